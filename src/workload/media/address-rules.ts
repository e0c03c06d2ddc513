import ipaddr from 'ipaddr.js'

/** Where the instance metadata service listens: it hands out identities, so no exception ever opens it. */
const METADATA_SERVICE = '169.254.169.254'

/** Which hosts and addresses a URL that a client names may lead to. */
export interface AddressRules {
  /** Whether everything that `host` resolves to is allowed by its name, the metadata service excepted. */
  allowsHost(host: string): boolean
  /** Whether a connection to `address` (IPv4 or IPv6) is allowed. */
  allowsAddress(address: string): boolean
}

/**
 * Public unicast addresses only, and what `exceptions` names: host names, addresses or CIDR blocks. Loopback, private,
 * link-local, shared, multicast, reserved and unspecified addresses are refused, also where an IPv6 address carries an
 * IPv4 one (mapped, NAT64, 6to4, Teredo). Throws a RangeError for an exception that is none of the three.
 */
export function addressRules(exceptions: readonly string[]): AddressRules {
  const hosts = new Set<string>()
  const blocks: [ipaddr.IPv4 | ipaddr.IPv6, number][] = []
  for (const text of exceptions) {
    if (ipaddr.isValidCIDR(text)) blocks.push(ipaddr.parseCIDR(text))
    else if (ipaddr.isValid(text))
      blocks.push([ipaddr.process(text), ipaddr.process(text).kind() === 'ipv4' ? 32 : 128])
    else if (/^[\w.-]+$/.test(text)) hosts.add(text.toLowerCase())
    else throw new RangeError(`${text} is no host name, address or CIDR block`)
  }
  return {
    allowsHost: (host) => hosts.has(host.toLowerCase()),
    allowsAddress(text) {
      const address = ipaddr.process(text) // IPv4 inside IPv6 in its mapped form becomes IPv4
      if (address.toString() === METADATA_SERVICE) return false
      if (address.range() === 'unicast') return true
      return blocks.some(([block, bits]) => block.kind() === address.kind() && address.match(block, bits))
    },
  }
}

/** Whether a host that is allowed by its name may be reached at `address`: everywhere but the metadata service. */
export const isMetadataService = (address: string): boolean => ipaddr.process(address).toString() === METADATA_SERVICE
