import { type LookupAddress, lookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'
import { buildConnector } from 'undici'

/** Of IPv6 only this block is handed out for hosts of the internet (RFC 4291, section 2.4, and IANA's registry). */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3')

/** A connection that would have left the internet for somebody's own network. */
export class AddressNotPublic extends Error {
  override readonly name = 'AddressNotPublic'

  constructor() {
    super('the URL leads to an address that is not public')
  }
}

/**
 * Connects to public addresses only. They are checked where the connection is made, whatever the name resolved to before
 * (platform reference, section 24.2). `timeout` is in milliseconds.
 */
export function publicConnector(timeout: number): buildConnector.connector {
  const connect = buildConnector({ timeout, lookup: lookupPublic })
  return (options, done) => {
    const literal = options.hostname.replace(/^\[|\]$/g, '')
    if (isIP(literal) !== 0 && !isPublic(literal)) return done(new AddressNotPublic(), null)
    connect(options, done)
  }
}

const lookupPublic: LookupFunction = (host, options, done) => {
  lookup(host, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
    const failure = error ?? (addresses.every(({ address }) => isPublic(address)) ? null : new AddressNotPublic())
    if (failure) return done(failure, '', 0)
    // The type of the callback is that of one address, and with `all` it takes a list.
    return options.all ? done(null, addresses as never) : done(null, addresses[0]!.address, addresses[0]!.family)
  })
}

/** Whether an address, IPv4 or IPv6, is that of a host of the internet. */
export function isPublic(text: string): boolean {
  const address = ipaddr.process(text) // IPv4 inside IPv6 in its mapped form becomes IPv4
  return address.range() === 'unicast' && (address.kind() === 'ipv4' || address.match(GLOBAL_IPV6))
}
