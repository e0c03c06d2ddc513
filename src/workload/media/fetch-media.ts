import { createHash } from 'node:crypto'
import type { Auth, Credentials } from '../../contracts/credentials.ts'
import { authFor } from '../base/credentials.ts'
import { WorkloadError } from '../base/errors.ts'
import { download, downloadObject } from './download.ts'
import type { Identify } from './identify.ts'
import type { KeptMedia, MediaCache } from './media-cache.ts'
import type { HeadersFor, Outbound } from './outbound.ts'
import type { S3Objects } from './s3-objects.ts'

/** A longer text is no URL that a server would answer to. */
const MOST_CHARACTERS = 16_384
/** Names of query parameters that give whoever has the URL a right, mostly for a while. */
const signed = /sig(nature)?$|token|secret|password|credential|auth|policy|expires|key/i

export interface FetchMediaDeps {
  readonly outbound: Pick<Outbound, 'get' | 'check'>
  readonly identify: Identify
  readonly objects: S3Objects
  readonly cache: MediaCache
  /** The most bytes of one file. */
  readonly maxBytes: number
  /** Of the pauses between attempts, in milliseconds. */
  readonly firstPauseMs: number
}

/** Input files by http, https and s3 URL. */
export interface FetchMedia {
  /** Throws `url-not-allowed` for what can be refused without asking anybody. */
  check(url: string, credentials: Credentials): void
  /** The bytes behind `url`, which are asked for each time but not sent again when they are still the same. */
  fetch(url: string, credentials: Credentials, signal: AbortSignal): Promise<Buffer>
}

export function createFetchMedia(deps: FetchMediaDeps): FetchMedia {
  const { outbound, identify, objects, cache, maxBytes, firstPauseMs } = deps
  const limits = { maxBytes, firstPauseMs }
  const overHttp = async (url: string, credentials: Credentials, signal: AbortSignal): Promise<Buffer> => {
    const request = await identify(url, credentials, signal)
    const asked = new URL(url)
    const anonymous = Object.keys(request.headers).length === 0 && request.url === withoutFragment(asked)
    asked.username = asked.password = ''
    const key = isSigned(asked) ? undefined : withoutFragment(asked)
    const kept = key === undefined ? undefined : await cache.find(key)
    const conditions = kept && conditionsOf(kept, request.url, anonymous)
    let answer = await download(outbound, request, { ...limits, signal }, conditions)
    if (answer === 'unchanged') {
      if (kept) return kept.bytes
      answer = await download(outbound, request, { ...limits, signal })
      if (answer === 'unchanged') throw new WorkloadError('media-unavailable', 'the URL answered with status 304')
    }
    const { bytes, etag, lastModified, redirected, noStore } = answer
    const lasting = !noStore && (etag ?? lastModified) !== undefined && !(redirected && isSigned(new URL(redirected)))
    const from = redirected && hashOf(redirected)
    if (key !== undefined && lasting) await cache.keep(key, bytes, { etag, lastModified, from, anonymous })
    else if (kept) await cache.forget(key!)
    return bytes
  }
  const overS3 = async (url: string, auth: Auth | undefined, signal: AbortSignal): Promise<Buffer> => {
    // A store that a client names could say that it has any file, and be given the bytes of another's.
    const key = `${auth?.type === 's3' ? (auth.endpoint ?? '') : ''} ${url}`
    const kept = await cache.find(key)
    const open = (ended: AbortSignal) => objects.open(url, auth, ended)
    const answer = await downloadObject(open, { ...limits, signal }, (etag) => etag === kept?.etag)
    if (answer === 'unchanged') return kept!.bytes // only then is an ETag known
    if (answer.etag !== undefined) await cache.keep(key, answer.bytes, { etag: answer.etag, anonymous: false })
    return answer.bytes
  }
  const check = (url: string, credentials: Credentials): void => {
    if (url.length > MOST_CHARACTERS) throw new WorkloadError('url-not-allowed', 'the URL is too long')
    if (isS3(url)) objects.check(url, authFor(credentials, url))
    else outbound.check(url)
  }
  return {
    check,
    async fetch(url, credentials, signal) {
      check(url, credentials)
      return isS3(url) ? overS3(url, authFor(credentials, url), signal) : overHttp(url, credentials, signal)
    },
  }
}

/**
 * The headers that ask whether something is still as it was kept, for the address it came from. A date proves nothing
 * where different askers may see different files, so there only an ETag is compared.
 */
function conditionsOf({ etag, lastModified, from, anonymous }: KeptMedia, first: string, asker: boolean): HeadersFor {
  const headers: Readonly<Record<string, string>> =
    etag !== undefined
      ? { 'if-none-match': etag }
      : lastModified !== undefined && anonymous && asker
        ? { 'if-modified-since': lastModified }
        : {}
  return ({ href }) => ((from === undefined ? href === first : hashOf(href) === from) ? headers : {})
}

const isS3 = (url: string): boolean => /^s3:/i.test(url)
const isSigned = (url: URL): boolean => [...url.searchParams.keys()].some((name) => signed.test(name))
const withoutFragment = ({ href }: URL): string => href.split('#', 1)[0]!
const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')
