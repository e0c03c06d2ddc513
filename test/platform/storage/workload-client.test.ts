import { describe, expect, it } from 'vitest'
import { storageUploadSchema } from '../../../src/contracts/upload.ts'
import { filesOf, upload, uploadsWith } from '../../support/uploads.ts'
import { ask, storageBench } from './bench.ts'

const bench = storageBench()

/** The storage API and the workload as its client, with its key or the identity that its machine gives it. */
async function client(byToken: boolean) {
  const verifyToken = async (jwt: string) => (jwt === 'its.own.token' ? { organization_name: name } : undefined)
  const here = await bench({ verifyToken })
  const { name } = here.tenant.organization
  const settings = { url: here.url, organization: name, ...(byToken ? {} : { apiKey: here.tenant.key }) }
  const uploads = uploadsWith({ storage: settings, token: async () => 'its.own.token', timeoutMs: 30_000 })
  const put = async (options: object, contents: Readonly<Record<string, string | Buffer>>) =>
    upload(uploads, { storage: storageUploadSchema.parse(options) }, await filesOf(contents))
  return { ...here, put }
}

describe('the workload', () => {
  it.each([[false], [true]])(
    'stores its files and gives URLs that anybody can read (by identity: %s)',
    async (byToken) => {
      const { put } = await client(byToken)
      const contents = Object.fromEntries(
        ['a_00001_.png', 'in folder/b #1?&=%20.png', 'ü 絵.png'].map((name) => [name, `content of ${name}`]),
      )
      const urls = await put({ prefix: 'run 1/x-', signature_exp: 60 }, contents)
      const answers = await Promise.all(urls.map((url) => ask('GET', url)))
      expect(answers.map(({ text }) => text)).toEqual(Object.values(contents))
      expect(answers.map(({ headers }) => headers['content-type'])).toEqual(['image/png', 'image/png', 'image/png'])
    },
  )

  it('gets plain URLs when it asks for no signature', async () => {
    const { put, base } = await client(false)
    expect(await put({ sign: false }, { 'a.png': 'a' })).toEqual([`${base}/files/a.png`])
  })

  it('stores films beyond the limit of a request in parts', async () => {
    const { put } = await client(true)
    const film = Buffer.alloc(101 * 2 ** 20)
    for (let at = 0; at < film.length; at += 2 ** 16) film.writeUInt32LE(at, at)
    const [url] = await put({ prefix: 'films/' }, { 'film.png': film })
    const { body } = await ask('GET', url!)
    expect(body.equals(film)).toBe(true)
  })

  it('is told no when it has no access', async () => {
    const { url, tenant } = await client(false)
    const uploads = uploadsWith({ storage: { url, organization: tenant.organization.name, apiKey: 'another' } })
    const storage = storageUploadSchema.parse({})
    await expect(upload(uploads, { storage }, await filesOf({ 'a.png': 'a' }))).rejects.toMatchObject({
      code: 'upload-failed',
      message: expect.stringContaining('the store answered 401'),
    })
  })
})
