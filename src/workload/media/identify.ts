import type { Credentials } from '../../contracts/credentials.ts'
import { authFor, basic, headersOf, withQuery } from '../base/credentials.ts'
import { WorkloadError } from '../base/errors.ts'
import type { HeadersFor } from './outbound.ts'
import { unescaped } from './unescaped.ts'

/** What this server may show of itself when who asks shows nothing. */
export interface OwnIdentities {
  /** Headers for hosts that the operator lists. */
  readonly headersFor: HeadersFor
  /** The platform's storage API. */
  readonly storage: {
    readonly url: string | undefined
    /** With it, only this organization's files are read with the server's identity. */
    readonly organization: string | undefined
    readonly apiKey: string | undefined
    /** A bearer token of this instance, which is used where there is no key. */
    readonly token?: ((signal: AbortSignal) => Promise<string>) | undefined
  }
}

/** A request as it is to be made. Both members may hold secrets. */
export interface IdentifiedRequest {
  readonly url: string
  /** For the origin of `url` only. */
  readonly headers: Readonly<Record<string, string>>
}

/** Adds what shows who asks for an http or https URL. */
export type Identify = (url: string, credentials: Credentials, signal: AbortSignal) => Promise<IdentifiedRequest>

/**
 * One identity is used, alone: that of the first of the credentials that matches; or the URL's user part; or the server's
 * own, at the storage API when there is no `token` in the query, and at the hosts that the operator lists.
 */
export function createIdentify({ headersFor, storage }: OwnIdentities): Identify {
  const storageHeaders = async (url: URL, signal: AbortSignal) => {
    if (!isOwnFile(url, storage) || url.searchParams.has('token')) return undefined
    if (storage.apiKey !== undefined) return { 'service-api-key': storage.apiKey }
    const token = await storage.token?.(signal).catch((cause: unknown) => {
      signal.throwIfAborted()
      throw new WorkloadError('media-unavailable', 'this machine gave no identity token', { cause })
    })
    return token === undefined ? undefined : { authorization: `Bearer ${token}` }
  }
  return async (text, credentials, signal) => {
    if (!URL.canParse(text)) return { url: text, headers: {} }
    const { url, headers } = withoutUserPart(new URL(text))
    url.hash = ''
    const auth = authFor(credentials, text)
    if (auth) return { url: withQuery(url, auth).href, headers: headersOf(auth) }
    if (headers.authorization !== undefined) return { url: url.href, headers }
    return { url: url.href, headers: (await storageHeaders(url, signal)) ?? headersFor(url) }
  }
}

/** `headers` as long as redirects stay at the origin of `url`, and never again once they have left it. */
export function whileAt(url: string, headers: Readonly<Record<string, string>>): HeadersFor {
  const { origin } = new URL(url)
  let home = true
  return (at) => {
    home &&= at.origin === origin
    return home ? headers : {}
  }
}

/** `url` as clients of HTTP take it, and the header that its user part stands for. */
export function withoutUserPart(url: URL): { readonly url: URL; readonly headers: Readonly<Record<string, string>> } {
  const plain = new URL(url)
  if (url.username === '' && url.password === '') return { url: plain, headers: {} }
  plain.username = plain.password = ''
  return { url: plain, headers: { authorization: basic(unescaped(url.username), unescaped(url.password)) } }
}

/** Whether the server's identity may read it: below the organization, and without an escape that leads out again. */
function isOwnFile(url: URL, { url: storage, organization }: OwnIdentities['storage']): boolean {
  if (storage === undefined) return false
  const { origin, pathname } = new URL(storage)
  const below = organization === undefined ? '' : `/organizations/${encodeURIComponent(organization)}/files`
  const plain = !unescaped(url.pathname).split(/[/\\]/).includes('..')
  return plain && url.origin === origin && url.pathname.startsWith(`${pathname.replace(/\/+$/, '')}${below}/`)
}
