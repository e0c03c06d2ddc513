import type { HttpUpload } from '../../../contracts/upload.ts'
import { authFor, headersOf, withQuery } from '../../base/credentials.ts'
import { WorkloadError } from '../../base/errors.ts'
import { sendFile } from '../send-file.ts'
import { failureOfStatus, failureToReach } from '../store-answer.ts'
import type { UploadTarget } from '../target.ts'

/** Requests to URLs that clients name, under the rules for their addresses; redirects are not followed. */
export interface GuardedSender {
  /** Throws `url-not-allowed` for a URL that the rules refuse as it stands. */
  check(url: string): void
  stream(
    url: string,
    request: {
      readonly method: 'PUT'
      readonly headers: Readonly<Record<string, string>>
      readonly body: AsyncIterable<Uint8Array>
      readonly bytes: number
      readonly signal: AbortSignal
    },
  ): Promise<{ readonly status: number; readonly headers: { get(name: string): string | null } }>
}

/**
 * `PUT` to any server: the bytes of the file as the body, any 2xx is success. `ownHeaders` are those with which this server
 * shows itself to a host; a client's credentials are used without them.
 */
export function httpUploadTarget(
  sender: GuardedSender,
  ownHeaders: (url: URL) => Readonly<Record<string, string>>,
): UploadTarget<HttpUpload> {
  return {
    type: 'http_upload',
    open({ url_prefix }, credentials) {
      checkPrefix(sender, url_prefix)
      const urlOf = (filename: string) =>
        `${url_prefix.replace(/\/+$/, '')}/${filename.split('/').map(encodeURIComponent).join('/')}`
      return {
        placeOf: urlOf,
        async put({ filename, path, mime, bytes }, signal) {
          const url = new URL(urlOf(filename))
          const auth = authFor(credentials, urlOf(filename))
          const headers = { ...(auth ? headersOf(auth) : ownHeaders(url)), 'content-type': mime }
          const answer = await sendFile(path, (body) =>
            sender
              .stream(withQuery(url, auth).href, { method: 'PUT', headers, body, bytes, signal })
              .catch((error: unknown) => {
                throw failureToReach(error)
              }),
          )
          if (answer.status >= 200 && answer.status < 300) return urlOf(filename)
          throw failureOfStatus(answer.status, { retryAfter: answer.headers.get('retry-after') })
        },
      }
    },
  }
}

function checkPrefix({ check }: GuardedSender, prefix: string): void {
  try {
    check(prefix)
  } catch (error) {
    if (!(error instanceof WorkloadError)) throw error
    const { code, message } = error
    throw new WorkloadError(code, message, { location: 'http_upload.url_prefix', cause: error })
  }
}
