import { pipeline } from 'node:stream/promises'
import type { Request, Response } from 'express'
import type { ByteRange } from './blob-store.ts'
import type { Files, StoredFile } from './files.ts'
import type { Place } from './place.ts'

/** Answers GET and HEAD: the whole file, one range of it, or 304 to who has it already. Throws 404. */
export async function sendFile(files: Files, place: Place, request: Request, response: Response): Promise<void> {
  if (request.method === 'HEAD') {
    describe(response, await files.find(place))
    return void response.end()
  }
  const { file, range, bytes } = await files.open(place, (found) => rangeOf(request, found))
  describe(response, file)
  if (request.fresh) {
    bytes.destroy()
    response.removeHeader('content-length')
    return void response.status(304).end()
  }
  if (range) {
    response.status(206).setHeader('content-range', `bytes ${range.start}-${range.end}/${file.size}`)
    response.setHeader('content-length', range.end - range.start + 1)
  }
  await pipeline(bytes, response)
}

function describe(response: Response, { mimeType, size, etag }: StoredFile): void {
  const headers = {
    'content-type': mimeType, // Express would add a character set
    'content-length': size,
    etag: quoted(etag),
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-cache', // it may be replaced at any time
    'x-content-type-options': 'nosniff',
  }
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
}

/** An etag as it stands in a header. */
export const quoted = (etag: string): string => `"${etag}"`

/** The one range that is asked for; several, and those that a file has not, are answered with all of it. */
function rangeOf(request: Request, { size, etag }: StoredFile): ByteRange | undefined {
  const condition = request.get('if-range')
  if (condition !== undefined && condition !== quoted(etag)) return undefined
  const ranges = request.range(size, { combine: true })
  if (!Array.isArray(ranges) || ranges.type !== 'bytes' || ranges.length !== 1) return undefined
  return ranges[0]
}
