import ipaddr from 'ipaddr.js'

/** Where instance metadata services listen: they hand out identities, so no exception ever opens them. */
const METADATA_SERVICES: ReadonlySet<string> = new Set([
  '169.254.169.254', // this platform's, and most others'
  '169.254.170.2', // Amazon's, inside containers
  '169.254.170.23',
  'fd00:ec2::254',
  'fd00:ec2::23',
  'fd20:ce::254', // Google's
  '100.100.100.200', // Alibaba's
  '168.63.129.16', // Azure's, of a public range
])

/** Of IPv6 only this block is handed out for hosts of the internet (RFC 4291, section 2.4, and IANA's registry). */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3')

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
 * IPv4 one (mapped, compatible, NAT64, 6to4, Teredo). Throws a RangeError for an exception that is none of the three.
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
      if (isMetadataService(text)) return false
      if (address.range() === 'unicast' && (address.kind() === 'ipv4' || address.match(GLOBAL_IPV6))) return true
      return blocks.some(([block, bits]) => block.kind() === address.kind() && address.match(block, bits))
    },
  }
}

/** Whether `address` is a metadata service, also where it is inside an IPv6 address. */
export function isMetadataService(text: string): boolean {
  const address = ipaddr.process(text)
  if (METADATA_SERVICES.has(address.toString())) return true
  const bytes = address.toByteArray()
  return (
    bytes.length === 16 && [bytes.slice(12), bytes.slice(2, 6)].some((part) => METADATA_SERVICES.has(part.join('.')))
  )
}
