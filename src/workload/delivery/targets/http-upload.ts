import { openAsBlob } from 'node:fs'
import type { HttpUpload } from '../../../contracts/upload.ts'
import { messageOf, WorkloadError } from '../../base/errors.ts'
import { isPassing, UploadFailure, type UploadTarget } from '../target.ts'

/** Sends a request to a URL that a client named; redirects are not followed. */
export type SendTo = (
  url: string,
  init: {
    readonly method: 'PUT'
    readonly headers: Readonly<Record<string, string>>
    readonly body: Blob
    readonly signal: AbortSignal
  },
) => Promise<{ readonly status: number; readonly headers: { get(name: string): string | null } }>

/** `PUT` to any server: the bytes of the file as the body, any 2xx is success. */
export function httpUploadTarget(send: SendTo): UploadTarget<HttpUpload> {
  const urlOf = (filename: string, { url_prefix }: HttpUpload) =>
    `${url_prefix.replace(/\/+$/, '')}/${filename.split('/').map(encodeURIComponent).join('/')}`
  return {
    type: 'http_upload',
    missing: undefined,
    urlOf,
    async upload({ path, filename, mime }, options, signal) {
      const body = await openAsBlob(path, { type: mime }) // read piece by piece as it is sent
      const init = { method: 'PUT', headers: { 'content-type': mime }, body, signal } as const
      const { status, headers } = await send(urlOf(filename, options), init).catch((error: unknown) => {
        throw unreachable(error)
      })
      if (status >= 200 && status < 300) return
      throw new UploadFailure(`the store answered ${status}`, {
        passing: isPassing(status),
        retryAfter: secondsOf(headers.get('retry-after')),
      })
    },
  }
}

/** `Retry-After` in milliseconds where it counts seconds; its other form is a date, which clocks may disagree on. */
function secondsOf(header: string | null): number | undefined {
  return header !== null && /^\d+$/.test(header) ? Number(header) * 1000 : undefined
}

function unreachable(error: unknown): UploadFailure {
  if (error instanceof WorkloadError) return new UploadFailure(error.message, { passing: false, cause: error })
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : messageOf(cause)
  return new UploadFailure(`the store could not be reached: ${code}`, { passing: true, cause: error })
}
