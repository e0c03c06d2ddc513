import { truncate } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { storageUploadSchema } from '../../../src/contracts/upload.ts'
import { sha256, storageApi } from '../../support/storage-api.ts'
import { filesOf, upload, uploadsWith } from '../../support/uploads.ts'

const KEY = 'an-organization-key'
const TOKEN = 'an.identity.token'

async function store(setup: { readonly byToken?: boolean; readonly timeoutMs?: number } = {}) {
  const api = await storageApi(KEY, () => TOKEN)
  const settings = { url: `${api.url}/`, organization: 'acme', ...(setup.byToken ? {} : { apiKey: KEY }) }
  const uploads = uploadsWith({ ...setup, storage: settings, token: async () => TOKEN })
  const put = async (options: object, contents: Readonly<Record<string, string | Buffer>>) =>
    upload(uploads, { storage: storageUploadSchema.parse(options) }, await filesOf(contents))
  return { api, uploads, put }
}

describe('an upload to the storage API', () => {
  it.each([[false], [true]])(
    'gives URLs with which anybody reads the file (by identity token: %s)',
    async (byToken) => {
      const { api, put } = await store({ byToken })
      const names = ['a_00001_.png', 'in folder/b #1?&=%20.png', 'ü 絵.png']
      const urls = await put(
        { prefix: 'run 1/x-' },
        Object.fromEntries(names.map((name) => [name, `content of ${name}`])),
      )
      expect(urls.map(api.open)).toEqual(
        names.map((name) => {
          const content = Buffer.from(`content of ${name}`)
          return { bytes: content.length, sha256: sha256(content), mime: 'image/png' }
        }),
      )
      expect(new URL(urls[1]!).pathname).toBe(
        '/organizations/acme/files/run%201/x-in%20folder/b%20%231%3F%26%3D%2520.png',
      )
    },
  )

  it('gives plain URLs when they are not to be signed', async () => {
    const { api, put } = await store()
    expect(await put({ sign: false }, { 'a.png': 'a' })).toEqual([`${api.url}/organizations/acme/files/a.png`])
    expect(api.files.get('a.png')).toMatchObject({ bytes: 1 })
  })

  it('signs for as long as it is asked to', async () => {
    const { api, put } = await store()
    const [url] = await put({ signature_exp: 60 }, { 'a.png': '' })
    expect(api.open(url!)).toMatchObject({ bytes: 0 })
    for (const signature_exp of [59, 2_592_001, 60.5])
      expect(storageUploadSchema.safeParse({ signature_exp }).success).toBe(false)
  })

  it('sends files beyond the limit of a request in parts', async () => {
    const { api, put } = await store({ timeoutMs: 60_000 })
    const data = Buffer.alloc(101 * 2 ** 20)
    for (let at = 0; at < data.length; at += 2 ** 16) data.writeUInt32LE(at, at)
    const [url] = await put({ prefix: 'big/' }, { 'film.png': data })
    expect(api.open(url!)).toMatchObject({ bytes: data.length, sha256: sha256(data) })
    expect(api.asked).toEqual([
      'PUT files mpu-create',
      ...['PUT file_parts', 'PUT file_parts', 'PUT file_parts', 'PUT file_parts'],
      ...['PUT files mpu-complete', 'POST file_tokens'],
    ])
  })

  it('leaves no unfinished upload behind when a part fails', async () => {
    const { api, uploads } = await store()
    api.troubles.push(undefined, { status: 400 })
    const [file] = await filesOf({ 'film.png': '' })
    await truncate(file!.path, 101 * 2 ** 20)
    const files = [{ ...file!, bytes: 101 * 2 ** 20 }]
    await expect(upload(uploads, { storage: storageUploadSchema.parse({}) }, files)).rejects.toMatchObject({
      code: 'upload-failed',
      message: 'storage: film.png: the store answered 400 trouble',
    })
    expect(api.asked.at(-1)).toBe('DELETE files mpu-abort')
    expect([api.unfinished, api.files.size]).toEqual([0, 0])
  })

  it.each([['drop'], ['hang'], [{ status: 429, headers: { 'retry-after': '0' } }], [{ status: 500 }]] as const)(
    'is tried again after trouble: %j',
    async (trouble) => {
      const { api, put } = await store({ timeoutMs: 400 })
      api.troubles.push(trouble)
      const [url] = await put({}, { 'a.png': 'a' })
      expect(api.open(url!)).toMatchObject({ bytes: 1 })
      expect(api.asked).toEqual(['PUT files', 'PUT files'])
    },
  )

  it('is not tried again when the store knows neither key nor token', async () => {
    const { api } = await store()
    for (const apiKey of ['another key', undefined]) {
      const settings = { url: api.url, organization: 'acme', apiKey }
      const uploads = uploadsWith({ storage: settings, token: async () => 'another token' })
      const storage = storageUploadSchema.parse({})
      await expect(upload(uploads, { storage }, await filesOf({ 'a.png': 'a' }))).rejects.toMatchObject({
        code: 'upload-failed',
        message: 'storage: a.png: the store answered 401 refused',
      })
    }
    expect(api.asked).toHaveLength(2)
  })

  it('tries again while the machine gives no identity', async () => {
    const { api } = await store()
    const answers = ['none', TOKEN]
    const token = async () => {
      const next = answers.shift()!
      if (next === 'none') throw new Error('the metadata service answered 500')
      return next
    }
    const uploads = uploadsWith({ storage: { url: api.url, organization: 'acme' }, token })
    const told: unknown[] = []
    const files = await filesOf({ 'a.png': 'a' })
    await upload(uploads, { storage: storageUploadSchema.parse({}) }, files, (...of) => told.push(of))
    expect(told).toEqual([
      ['failed', 'a.png: this machine gave no identity token'],
      ['ok', undefined],
    ])
  })

  it.each([
    [{}, 'storage: this server has no STORAGE_URL'],
    [{ url: 'http://127.0.0.1' }, 'storage: this server has no STORAGE_ORGANIZATION'],
  ])('is refused beforehand when the server is set up with %j', (settings, message) => {
    const plan = () => uploadsWith({ storage: settings }).plan({ storage: storageUploadSchema.parse({}) })
    expect(plan).toThrow(
      expect.objectContaining({ code: 'upload-not-configured', message, facts: { location: 'storage' } }),
    )
  })

  it.each(['/a', 'a//b', './a', 'a/../b', 'tab\t', 'nul\0', 'x'.repeat(901)])('takes no prefix like %j', (prefix) => {
    expect(storageUploadSchema.safeParse({ prefix }).success).toBe(false)
  })
})
