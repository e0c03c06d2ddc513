import type { Auth, Credentials } from '../../contracts/credentials.ts'

/** A longer text is no URL that a server would answer to, and matching takes time for each character. */
const MOST_CHARACTERS = 16_384

/** What the first entry whose pattern matches the whole of `url`, as it was sent, shows to who answers there. */
export function authFor(credentials: Credentials, url: string): Auth | undefined {
  if (url.length > MOST_CHARACTERS) return undefined
  return credentials.find(({ url_pattern }) => matchesPattern(url_pattern, url))?.auth
}

/** The headers that `auth` stands for; a query parameter and an S3 identity are none. */
export function headersOf(auth: Auth | undefined): Readonly<Record<string, string>> {
  if (auth?.type === 'bearer') return { authorization: `Bearer ${auth.token}` }
  if (auth?.type === 'basic') return { authorization: basic(auth.username, auth.password) }
  return auth?.type === 'header' ? { [auth.header_name.toLowerCase()]: auth.header_value } : {}
}

/** The value of an `Authorization` header for a name and a password (RFC 7617, in UTF-8). */
export const basic = (username: string, password: string): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`

/** `url` with the query parameter that `auth` names set; the others keep their spelling, which a signature may cover. */
export function withQuery(url: URL, auth: Auth | undefined): URL {
  if (auth?.type !== 'query') return url
  const kept = url.search
    .slice(1)
    .split('&')
    .filter((pair) => pair !== '' && !new URLSearchParams(pair).has(auth.query_param))
  const own = new URLSearchParams([[auth.query_param, auth.query_value]]).toString()
  const changed = new URL(url)
  changed.search = [...kept, own].join('&')
  return changed
}

/** `url` for logs and events: without its user part and fragment, and with `***` for each value in its query. */
export function maskedUrl(url: string): string {
  const [, scheme = '', authority = '', path = '', query] =
    /^(https?:|s3:)[/\\]*([^/\\?#]*)([^?#]*)(?:\?([^#]*))?/i.exec(url) ?? []
  if (scheme === '') return '***'
  const host = authority.slice(authority.lastIndexOf('@') + 1)
  const masked = query
    ?.split('&')
    .map((pair) => (pair.includes('=') ? `${pair.slice(0, pair.indexOf('='))}=***` : '***'))
  return `${scheme}//${host}${path}${masked ? `?${masked.join('&')}` : ''}`
}

/**
 * Whether `pattern` stands for the whole of `text`: `**` for anything, `*` for anything but `/`, `?` for one character,
 * everything else for itself. All ways to match are followed at once, as bits of one number (the Shift-And algorithm of
 * Baeza-Yates and Gonnet), so no pattern takes longer than its length times that of the text.
 */
export function matchesPattern(pattern: string, text: string): boolean {
  /** Bit i: the i-th place of the pattern is this character or any. */
  const places = new Map<string, bigint>()
  let [any, star, globstar, end] = [0n, 0n, 0n, 1n]
  for (const [token] of pattern.matchAll(/\*\*|./gsu)) {
    if (token === '**') globstar |= end
    else if (token === '*') star |= end
    else {
      if (token === '?') any |= end
      else places.set(token, (places.get(token) ?? 0n) | end)
      end <<= 1n
    }
  }
  let reached = 1n
  for (const character of text) {
    const moved = (reached & (any | (places.get(character) ?? 0n))) << 1n
    reached = moved | (reached & (character === '/' ? globstar : globstar | star))
    if (reached === 0n) return false
  }
  return (reached & end) !== 0n
}
