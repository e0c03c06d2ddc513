import type { Readable } from 'node:stream'
import type { AzureUpload } from '../../../contracts/upload.ts'
import { askStore } from '../ask-store.ts'
import { type AzureAccount, type AzureSettings, azureAccount, sharedKey } from '../azure-account.ts'
import { rangesOf, sendFile } from '../send-file.ts'
import { notConfigured, type OutputFile, type UploadTarget } from '../target.ts'

/** Larger files go in blocks, of which a blob may have 50,000. */
const MOST_AT_ONCE = 16 * 2 ** 20
const BLOCK_BYTES = 8 * 2 ** 20
/** Of Blob Storage's interface. */
const VERSION = '2021-12-02'

/** Block blobs in a container of Azure Blob Storage. `now` is in epoch milliseconds: signatures carry the time. */
export function azureTarget(settings: AzureSettings, now: () => number): UploadTarget<AzureUpload> {
  const account = azureAccount(settings)
  return {
    type: 'azure_blob_upload',
    open({ container, blob_prefix }) {
      if (typeof account === 'string') throw notConfigured('azure_blob_upload', account)
      const urlOf = (filename: string) =>
        `${account.endpoint}/${container}/${(blob_prefix + filename).split('/').map(encodeURIComponent).join('/')}`
      return {
        placeOf: urlOf,
        async put(file, signal) {
          const url = urlOf(file.filename)
          const put = putting(url, account, now, signal)
          await (file.bytes > MOST_AT_ONCE ? putBlocks(file, put) : putBlob(file, put))
          return url
        },
      }
    },
  }
}

type Put = (
  body: string | Readable,
  bytes: number,
  headers: Readonly<Record<string, string>>,
  query?: Readonly<Record<string, string>>,
) => Promise<string>

function putting(blob: string, { name, proof }: AzureAccount, now: () => number, signal: AbortSignal): Put {
  return (body, bytes, more, query = {}) => {
    const url = new URL(blob)
    for (const [key, value] of Object.entries(query)) url.searchParams.set(key, value)
    const headers = {
      ...more,
      'content-length': String(bytes),
      'x-ms-date': new Date(now()).toUTCString(),
      'x-ms-version': VERSION,
    }
    if ('sas' in proof) url.search = [url.search.slice(1), proof.sas].filter(Boolean).join('&')
    const authorization =
      'key' in proof ? { authorization: sharedKey(name, proof.key, { method: 'PUT', url, headers }) } : {}
    return askStore(url, { method: 'PUT', headers: { ...headers, ...authorization }, body, signal })
  }
}

const putBlob = ({ path, bytes, mime }: OutputFile, put: Put) =>
  sendFile(path, (pieces) => put(pieces, bytes, { 'content-type': mime, 'x-ms-blob-type': 'BlockBlob' }))

/** Blocks that no list names are forgotten after a week. */
async function putBlocks({ path, bytes, mime }: OutputFile, put: Put): Promise<void> {
  const ranges = rangesOf(bytes, BLOCK_BYTES)
  const ids = ranges.map((_, i) => Buffer.from(String(i).padStart(6, '0')).toString('base64')) // all of one length
  for (const [i, range] of ranges.entries()) {
    const send = (pieces: Readable) => put(pieces, range.end - range.start, {}, { comp: 'block', blockid: ids[i]! })
    await sendFile(path, send, range)
  }
  const list = `<?xml version="1.0" encoding="utf-8"?><BlockList>${ids.map((id) => `<Latest>${id}</Latest>`).join('')}</BlockList>`
  await put(list, list.length, { 'content-type': 'text/xml', 'x-ms-blob-content-type': mime }, { comp: 'blocklist' })
}
