import type { Request } from 'express'
import { PlatformError } from '../base/errors.ts'

/** Whether a request says that it has a body. */
export const hasBody = ({ headers }: Request): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

/**
 * The body of a request, piece by piece. Throws 413 at once for a body that says itself that it is larger than `most`
 * bytes, and while it is read when more come than were announced or nothing was. The connection stays open for the answer
 * when the reader leaves early.
 */
export function piecesOf(request: Request, most: number): AsyncIterable<Buffer> {
  const tooLarge = () => new PlatformError(413, `The body must not be larger than ${most} bytes.`)
  if (Number(request.headers['content-length'] ?? 0) > most) throw tooLarge()
  async function* pieces() {
    let bytes = 0
    try {
      for await (const piece of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        bytes += piece.length
        if (bytes > most) throw tooLarge()
        yield piece
      }
    } finally {
      request.resume() // a client reads the answer only when all it sends is taken; the server ends what lasts too long
    }
  }
  return pieces()
}
