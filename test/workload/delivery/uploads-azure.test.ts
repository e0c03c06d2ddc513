import { describe, expect, it } from 'vitest'
import { azureUploadSchema } from '../../../src/contracts/upload.ts'
import { azureBlobs } from '../../support/azure-blob.ts'
import { filesOf, upload, uploadsWith } from '../../support/uploads.ts'

const KEY = Buffer.from('the key of the account, 32 bytes')
const SAS = 'sv=2021-12-02&sp=cw&sig=a%2Bsignature%3D'
const refused = {
  code: 'upload-failed',
  message: 'azure_blob_upload: a.png: the store answered 403 AuthenticationFailed',
}

async function store(proof: string, now?: () => number) {
  const blobs = await azureBlobs(KEY, SAS)
  const connectionString = `DefaultEndpointsProtocol=http;AccountName=easel;${proof};BlobEndpoint=${blobs.url}/;`
  const uploads = uploadsWith({ azure: { connectionString }, ...(now && { now }) })
  const put = async (options: object, contents: Readonly<Record<string, string | Buffer>>) => {
    const azure_blob_upload = azureUploadSchema.parse({ container: 'pictures', ...options })
    return upload(uploads, { azure_blob_upload }, await filesOf(contents))
  }
  return { ...blobs, put }
}
const byKey = `AccountKey=${KEY.toString('base64')}`
const bySas = `SharedAccessSignature=?${SAS}`

describe('an upload to Azure Blob Storage', () => {
  it.each([byKey, bySas])('puts every file under prefix and name, and tells no secret: %s', async (proof) => {
    const { url, blobs, put } = await store(proof)
    const names = ['a_00001_.png', "in folder/b #1?&+%20'()!.png", 'ü 絵.png']
    const urls = await put(
      { blob_prefix: 'run 1/x-' },
      { ...Object.fromEntries(names.map((name) => [name, name])), 0: '' },
    )
    expect(urls).toEqual(
      ['0', ...names].map((name) => `${url}/pictures/run%201/x-${name.split('/').map(encodeURIComponent).join('/')}`),
    )
    for (const name of names)
      expect(blobs.get(`run 1/x-${name}`)).toEqual({ content: Buffer.from(name), type: 'image/png' })
    expect(blobs.get('run 1/x-0')!.content).toHaveLength(0)
  })

  it.each([byKey, bySas])('sends large files in blocks: %s', async (proof) => {
    const { blobs, asked, put } = await store(proof)
    const large = Buffer.alloc(17 * 2 ** 20, 'easel')
    await put({}, { 'large.png': large })
    expect(blobs.get('large.png')!.type).toBe('image/png')
    expect(blobs.get('large.png')!.content.equals(large)).toBe(true)
    expect(asked).toEqual(['block', 'block', 'block', 'blocklist'])
  })

  it.each([
    [`AccountKey=${Buffer.from('another key').toString('base64')}`, undefined],
    ['SharedAccessSignature=sv=2021-12-02&sig=another', undefined],
    [byKey, () => Date.now() - 3_600_000],
  ])('ends at once when the store refuses its signature: %s', async (proof, now) => {
    const { blobs, put } = await store(proof, now)
    await expect(put({}, { 'a.png': 'a' })).rejects.toMatchObject(refused)
    expect(blobs.size).toBe(0)
  })

  it('says so when there is no such container', async () => {
    const { put } = await store(byKey)
    await expect(put({ container: 'missing' }, { 'a.png': 'a' })).rejects.toMatchObject({
      message: 'azure_blob_upload: a.png: the store answered 404 ContainerNotFound',
    })
  })

  it.each([
    [{}, 'this server has no AZURE_STORAGE_CONNECTION_STRING and no AZURE_STORAGE_ACCOUNT'],
    [
      { account: 'easel' },
      'this server has neither AZURE_STORAGE_KEY nor AZURE_STORAGE_SAS_TOKEN, and no default identity',
    ],
    [{ account: 'no/account', key: 'a' }, 'AZURE_STORAGE_ACCOUNT of this server is not the name of an account'],
    [
      { connectionString: 'no' },
      'AZURE_STORAGE_CONNECTION_STRING of this server has neither AccountKey nor SharedAccessSignature',
    ],
    [{ connectionString: 'AccountKey=a' }, 'AZURE_STORAGE_CONNECTION_STRING of this server has no AccountName'],
    [
      { connectionString: 'AccountKey=a;AccountName=a;BlobEndpoint=nowhere' },
      'AZURE_STORAGE_CONNECTION_STRING of this server has no usable endpoint',
    ],
  ])('is refused beforehand when the server is set up with %j', (azure, reason) => {
    const plan = () =>
      uploadsWith({ azure }).plan({ azure_blob_upload: azureUploadSchema.parse({ container: 'pictures' }) })
    const message = `azure_blob_upload: ${reason}`
    const facts = { location: 'azure_blob_upload' }
    expect(plan).toThrow(expect.objectContaining({ code: 'upload-not-configured', message, facts }))
  })

  it.each(['Pictures', 'a--b', '-a', 'ab', 'a/b'])('takes no container like %s', (container) => {
    expect(azureUploadSchema.safeParse({ container }).success).toBe(false)
  })
})
