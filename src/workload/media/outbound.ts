import { Readable } from 'node:stream'
import type { Dispatcher, RequestInit, Response } from 'undici'
import { WorkloadError } from '../base/errors.ts'
import { once } from '../base/once.ts'
import { type AddressGuard, addressGuard, type Lookup } from './address-guard.ts'
import type { AddressRules } from './address-rules.ts'
import { withoutUserPart } from './identify.ts'

export type { Lookup } from './address-guard.ts'

const CONNECT_MS = 10_000
/** Time between two pieces of an answer, and to its first. */
const SILENCE_MS = 30_000
const MOST_REDIRECTS = 5
/** Bytes of an answer that are read over; a longer one ends the connection. */
const MOST_IGNORED = 64 * 1024

/** Requests to URLs that clients name. */
export interface Outbound {
  /**
   * GETs `url` and follows at most five redirects. Throws `url-not-allowed` for another scheme than http and https and
   * for an address that the rules refuse, which is checked where the connection is made: also behind a redirect, and
   * whatever the name resolved to before. User parts of URLs are not used. `onAnswer` sees every answer on the way, the
   * last one too.
   */
  get(
    url: string,
    signal: AbortSignal,
    headersFor?: HeadersFor,
    onAnswer?: (answer: Pick<Response, 'headers'>) => void,
  ): Promise<Response>
  /** Sends a request under the same rules and follows no redirect. The URL's user part stands for a missing header. */
  send(url: string, init: RequestInit): Promise<Response>
  /** The same for a body of known length that comes in pieces, once. */
  stream(url: string, request: StreamedRequest): Promise<StreamedAnswer>
  /** Throws `url-not-allowed` where the rules refuse a URL as it stands, before its name is looked up. */
  check(url: string): void
}

/** The headers for one of the addresses on the way, behind redirects too. */
export type HeadersFor = (url: URL) => Readonly<Record<string, string>>

export interface StreamedRequest {
  readonly method: 'POST' | 'PUT'
  readonly headers: Readonly<Record<string, string>>
  readonly body: AsyncIterable<Uint8Array>
  readonly bytes: number
  readonly signal: AbortSignal
}

/** An answer whose body is not read. */
export interface StreamedAnswer {
  readonly status: number
  readonly headers: { get(name: string): string | null }
}

export function createOutbound(rules: AddressRules, lookup: Lookup): Outbound {
  const guard = addressGuard(rules, lookup)
  // Loaded at the first request: a server that fetches nothing starts without it.
  const client = once(async () => {
    const undici = await import('undici')
    return { ...undici, dispatcher: guardedAgent(undici, guard) }
  })
  const send = async (url: URL, init: RequestInit): Promise<Response> => {
    const { fetch, dispatcher } = await client()
    return fetch(url, { ...init, dispatcher, redirect: 'manual' }).catch((error: unknown) => {
      throw refusalIn(error) ?? error
    })
  }
  return {
    async get(url, signal, headersFor = () => ({}), onAnswer = () => undefined) {
      let { url: at } = withoutUserPart(parsedUrl(url))
      for (let redirects = 0; ; redirects++) {
        const response = await send(at, { signal, headers: headersFor(at) })
        onAnswer(response)
        const location = response.headers.get('location')
        if (response.status < 300 || response.status > 399 || location === null) return response
        await response.body?.cancel()
        if (redirects === MOST_REDIRECTS) throw new WorkloadError('media-unavailable', 'the URL redirects too often')
        at = withoutUserPart(parsedUrl(location, at.href)).url
      }
    },
    async send(text, init) {
      const { url, headers } = withoutUserPart(parsedUrl(text))
      const { Headers } = await client()
      const all = new Headers(init.headers)
      for (const [name, value] of Object.entries(headers)) if (!all.has(name)) all.set(name, value)
      return send(url, { ...init, headers: all })
    },
    async stream(text, { method, headers: own, body, bytes, signal }) {
      const { url, headers: user } = withoutUserPart(parsedUrl(text))
      const { request, dispatcher } = await client()
      const headers = { ...user, ...lowerCase(own), 'content-length': String(bytes) }
      const all = { method, headers, body: Readable.from(body), signal, dispatcher }
      const options = { ...all, headersTimeout: 0 } // how long to wait is for the signal to say
      const answer = await request(url, options).catch((error: unknown) => {
        throw refusalIn(error) ?? error
      })
      void answer.body.dump({ limit: MOST_IGNORED }).catch(() => undefined) // frees the connection; nobody reads it
      const first = (name: string) => [answer.headers[name]].flat()[0] ?? null
      return { status: answer.statusCode, headers: { get: first } }
    },
    check(url) {
      const refused = guard.refusalOf(parsedUrl(url).hostname)
      if (refused) throw refused
    },
  }
}

function guardedAgent(
  { Agent, buildConnector }: typeof import('undici'),
  { refusalOf, lookup }: AddressGuard,
): Dispatcher {
  const connect = buildConnector({ timeout: CONNECT_MS, lookup })
  return new Agent({
    headersTimeout: SILENCE_MS,
    bodyTimeout: SILENCE_MS,
    connect(options, done) {
      const refused = refusalOf(options.hostname)
      return refused ? done(refused, null) : connect(options, done)
    },
  })
}

const lowerCase = (headers: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

function parsedUrl(text: string, base?: string): URL {
  const url = URL.canParse(text, base) ? new URL(text, base) : undefined
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url
  throw new WorkloadError('url-not-allowed', 'only http and https URLs are fetched')
}

/** Fetch wraps what a connector throws. */
function refusalIn(error: unknown): WorkloadError | undefined {
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof WorkloadError) return at
  return undefined
}
