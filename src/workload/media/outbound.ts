import type { LookupAddress, LookupAllOptions } from 'node:dns'
import { isIP } from 'node:net'
import type { Dispatcher, RequestInit, Response } from 'undici'
import { WorkloadError } from '../base/errors.ts'
import { once } from '../base/once.ts'
import { type AddressRules, isMetadataService } from './address-rules.ts'

const CONNECT_MS = 10_000
/** Time between two pieces of an answer, and to its first. */
const SILENCE_MS = 30_000
const MOST_REDIRECTS = 5

/** Resolves a host name; `dns.lookup` outside of tests. */
export type Lookup = (
  host: string,
  options: LookupAllOptions,
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

/** Requests to URLs that clients name. */
export interface Outbound {
  /**
   * GETs `url` and follows at most five redirects. Throws `url-not-allowed` for another scheme than http and https and
   * for an address that the rules refuse, which is checked where the connection is made: also behind a redirect, and
   * whatever the name resolved to before.
   */
  get(url: string, signal: AbortSignal): Promise<Response>
  /** Sends a request under the same rules and follows no redirect. */
  send(url: string, init: RequestInit): Promise<Response>
}

export function createOutbound(rules: AddressRules, lookup: Lookup): Outbound {
  // Loaded at the first request: a server that fetches nothing starts without it.
  const client = once(async () => {
    const undici = await import('undici')
    return { fetch: undici.fetch, dispatcher: guardedAgent(undici, rules, lookup) }
  })
  const send = async (url: URL, init: RequestInit): Promise<Response> => {
    const { fetch, dispatcher } = await client()
    return fetch(url, { ...init, dispatcher, redirect: 'manual' }).catch((error: unknown) => {
      throw refusalIn(error) ?? error
    })
  }
  return {
    async get(url, signal) {
      let at = parsedUrl(url)
      for (let redirects = 0; ; redirects++) {
        const response = await send(at, { signal })
        const location = response.headers.get('location')
        if (response.status < 300 || response.status > 399 || location === null) return response
        await response.body?.cancel()
        if (redirects === MOST_REDIRECTS) throw new WorkloadError('media-unavailable', 'the URL redirects too often')
        at = parsedUrl(new URL(location, at).href)
      }
    },
    send: async (url, init) => send(parsedUrl(url), init),
  }
}

/** The agent checks address literals where it connects and names where they resolve, so there is no gap between. */
function guardedAgent(
  { Agent, buildConnector }: typeof import('undici'),
  rules: AddressRules,
  lookup: Lookup,
): Dispatcher {
  const connect = buildConnector({
    timeout: CONNECT_MS,
    lookup(host, options, done) {
      lookup(host, { ...options, all: true }, (error, addresses) => {
        const allowed = (address: string) =>
          rules.allowsHost(host) ? !isMetadataService(address) : rules.allowsAddress(address)
        const failure = error ?? (addresses.every(({ address }) => allowed(address)) ? null : refusal())
        // The type of the callback is that of one address, and with `all` it takes a list.
        if (failure) return done(failure, '', 0)
        return options.all ? done(null, addresses as never) : done(null, addresses[0]!.address, addresses[0]!.family)
      })
    },
  })
  return new Agent({
    headersTimeout: SILENCE_MS,
    bodyTimeout: SILENCE_MS,
    connect(options, done) {
      const host = options.hostname.replace(/^\[|\]$/g, '')
      if (isIP(host) !== 0 && !rules.allowsAddress(host)) return done(refusal(), null)
      return connect(options, done)
    },
  })
}

function parsedUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url
  throw new WorkloadError('url-not-allowed', 'only http and https URLs are fetched')
}

const refusal = () =>
  new WorkloadError(
    'url-not-allowed',
    'the URL leads to an address that is not public; OUTBOUND_ALLOW makes exceptions',
  )

/** Fetch wraps what a connector throws. */
function refusalIn(error: unknown): WorkloadError | undefined {
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof WorkloadError) return at
  return undefined
}
