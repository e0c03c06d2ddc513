import type { IncomingMessage } from 'node:http'

/** Of one connection only (RFC 9110, section 7.6.1); `Connection` names more. */
const HOP_BY_HOP: readonly string[] = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]

/** What no sender may declare to be of one connection only: where a body ends, and whom it is for, must stay told. */
const KEPT: ReadonlySet<string> = new Set(['content-length', 'host'])

/** Methods whose requests have a body unless they say otherwise. */
const WITH_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH'])

/** Names and values in turn, as they came, for `http.request`. */
export function requestHeaders(request: IncomingMessage): string[] {
  const { headers, rawHeaders, socket, method = 'GET' } = request
  const forwardedFor = [headers['x-forwarded-for'], addressOf(socket.remoteAddress)].flat().filter(Boolean).join(', ')
  const kept = without(rawHeaders, [
    ...hopByHopOf(request),
    'service-api-key',
    'x-forwarded-for',
    'x-forwarded-host',
    'x-forwarded-proto',
  ])
  const added = ['X-Forwarded-For', forwardedFor, 'X-Forwarded-Proto', 'http']
  if (headers.host !== undefined) added.push('X-Forwarded-Host', headers.host)
  // The body is cut anew for this connection; its length, where it was told, is among the headers.
  if (headers['transfer-encoding'] !== undefined) added.push('Transfer-Encoding', 'chunked')
  else if (WITH_BODY.has(method) && headers['content-length'] === undefined) added.push('Content-Length', '0')
  return [...kept, ...added]
}

/** The headers of an instance's answer for the client, names and values in turn, as they came. */
export const answerHeaders = (answer: IncomingMessage): string[] => without(answer.rawHeaders, hopByHopOf(answer))

/** What asks for another protocol, or agrees to it. */
export const upgradeHeaders = ({ headers }: IncomingMessage): string[] => [
  'Connection',
  'Upgrade',
  'Upgrade',
  headers.upgrade ?? '',
]

function hopByHopOf({ headers }: IncomingMessage): string[] {
  const named = (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase())
  return [...HOP_BY_HOP, ...named.filter((name) => !KEPT.has(name))]
}

function without(rawHeaders: readonly string[], names: readonly string[]): string[] {
  const dropped = new Set(names)
  return rawHeaders.filter((_, i) => !dropped.has(rawHeaders[i - (i % 2)]!.toLowerCase()))
}

/** IPv4 clients of a socket for both families have an address of IPv6. */
const addressOf = (address: string | undefined) => address?.replace(/^::ffff:(?=\d+\.)/, '')
