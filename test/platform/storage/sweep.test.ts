import { existsSync } from 'node:fs'
import { readdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { BlobStore } from '../../../src/platform/storage/blob-store.ts'
import { createS3Blobs } from '../../../src/platform/storage/s3-blobs.ts'
import { emptyFolder } from '../../support/folder.ts'
import { site } from '../../support/uploads.ts'
import { storageBench } from './bench.ts'

const bench = storageBench()
const HOUR = 3_600_000
const DAY = 24 * HOUR

/** A store whose process dies at the second upload, when the bytes are stored and their record is not. */
function dyingOnce(blobs: BlobStore): BlobStore {
  let uploads = 0
  return {
    ...blobs,
    async receive(bytes) {
      const received = await blobs.receive(bytes)
      const keep = async (name: string, mimeType: string) => {
        await received.keep(name, mimeType)
        if (++uploads === 2) throw new Error('the process has died')
      }
      return { ...received, keep }
    },
  }
}

describe('retention', () => {
  it('ends thirty days after the last upload, sweep or no sweep', async () => {
    const { upload, ask, sign, clock, sweep, namesOfBlobs } = await bench()
    await upload('a', { file: 'a' })
    clock.ms += 29 * DAY
    await upload('a', { file: 'again' })
    await upload('b', { file: 'b' })
    await sweep()
    expect((await ask('GET', 'files/a')).text).toBe('again')
    clock.ms += 30 * DAY
    for (const method of ['GET', 'HEAD']) expect((await ask(method, 'files/a')).status).toBe(404)
    expect((await sign('a', {})).status).toBe(404)
    expect((await ask('GET', 'files')).json).toEqual({ files: [] })
    await sweep()
    expect(await namesOfBlobs()).toEqual([])
  })

  it('begins again with an upload over a file that has had its time', async () => {
    const { upload, ask, clock, sweep } = await bench()
    await upload('a', { file: 'old' })
    clock.ms += 31 * DAY
    await upload('a', { file: 'new' })
    await sweep()
    expect((await ask('GET', 'files/a')).text).toBe('new')
  })

  it('of unfinished uploads is a week', async () => {
    const { ask, clock, sweep, namesOfBlobs } = await bench()
    const { uploadId } = (await ask('PUT', 'files/a?action=mpu-create')).json as unknown as { uploadId: string }
    const put = async () => (await ask('PUT', `file_parts/a?partNumber=1&uploadId=${uploadId}`, {}, 'a')).status
    expect(await put()).toBe(200)
    clock.ms += 7 * DAY - 1
    await sweep()
    expect([await put(), await namesOfBlobs()]).toEqual([200, [expect.anything()]])
    clock.ms += 1
    expect(await put()).toBe(400)
    await sweep()
    expect(await namesOfBlobs()).toEqual([])
  })
})

describe.each([['disk'], ['s3']] as const)('a process that dies on %s', (store) => {
  it('between bytes and record leaves the old file, and bytes that are swept', async () => {
    const { upload, ask, clock, sweep, namesOfBlobs } = await bench({ store, wrapped: dyingOnce })
    await upload('a', { file: 'old' })
    expect((await upload('a', { file: 'dies here' })).status).toBe(500)
    expect((await ask('GET', 'files/a')).text).toBe('old')
    expect(await namesOfBlobs()).toHaveLength(2)
    await sweep()
    expect(await namesOfBlobs()).toHaveLength(2)
    clock.ms += 2 * HOUR
    await sweep()
    expect([await namesOfBlobs(), (await ask('GET', 'files/a')).text]).toEqual([[expect.anything()], 'old'])
  })
})

describe('the sweep', () => {
  it('removes what interrupted requests have left on the disk, after a day', async () => {
    const { folder, clock, sweep, upload } = await bench()
    await upload('a', { file: 'a' })
    const incoming = join(folder, 'incoming')
    for (const [name, age] of [
      ['old', 25],
      ['new', 23],
    ] as const) {
      await writeFile(join(incoming, name), 'half')
      await utimes(join(incoming, name), new Date(), new Date(clock.ms - age * HOUR))
    }
    await sweep()
    expect(await readdir(incoming)).toEqual(['new'])
  })

  it('touches nothing that is not its own', async () => {
    const { folder, upload, clock, sweep, tenant } = await bench()
    await upload('a', { file: 'a' })
    const foreign = join(folder, 'blobs', tenant.organization.id, 'notes.txt')
    await writeFile(foreign, 'mine')
    clock.ms += 2 * HOUR
    await sweep()
    expect(existsSync(foreign)).toBe(true)
  })

  it('runs where nothing was ever stored', async () => {
    const { sweep } = await bench()
    await expect(sweep()).resolves.toBeUndefined()
  })

  it('forgets tokens that have expired', async () => {
    const { upload, sign, clock, sweep, db, tenant } = await bench()
    await upload('a', { file: 'a' })
    for (const exp of [60, 120]) await sign('a', { exp })
    clock.ms += 60_000
    await sweep()
    const left = db.selectFrom('file_tokens').selectAll().where('organization_id', '=', tenant.organization.id)
    expect(await left.execute()).toHaveLength(1)
  })

  it('ends joins that died in a bucket', async () => {
    const asked: string[] = []
    const upload = (id: string, begun: string) =>
      `<Upload><Key>o/${id}</Key><UploadId>${id}</UploadId><Initiated>${begun}</Initiated></Upload>`
    const endpoint = await site(({ method, url }, response) => {
      asked.push(`${method} ${url}`)
      const uploads = upload('old', '2025-01-01T00:00:00.000Z') + upload('new', '2025-01-03T00:00:00.000Z')
      if (method === 'GET') response.end(`<ListMultipartUploadsResult>${uploads}</ListMultipartUploadsResult>`)
      else response.writeHead(204).end()
    })
    const credentials = { accessKeyId: 'key', secretAccessKey: 'secret' }
    const folder = await emptyFolder()
    const blobs = createS3Blobs({ bucket: 'files', region: 'eu-central-1', endpoint, credentials, folder })
    await blobs.tidy(new Date('2025-01-02'))
    expect(asked).toEqual(['GET /files/?uploads=', expect.stringMatching(/^DELETE \/files\/o\/old\?.*uploadId=old/)])
  })
})
