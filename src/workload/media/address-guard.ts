import type { LookupAddress, LookupAllOptions } from 'node:dns'
import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { WorkloadError } from '../base/errors.ts'
import { type AddressRules, isMetadataService } from './address-rules.ts'

/** Resolves a host name; `dns.lookup` outside of tests. */
export type Lookup = (
  host: string,
  options: LookupAllOptions,
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

/** Address literals are checked where a connection begins and names where they resolve, so there is no gap between. */
export interface AddressGuard {
  /** Why no connection to `host` may begin, when it is an address (in a URL's brackets or not) and not a name. */
  refusalOf(host: string): WorkloadError | undefined
  /** Resolves a name for a connection, to addresses that are allowed or not at all. */
  readonly lookup: LookupFunction
}

export function addressGuard(rules: AddressRules, lookup: Lookup): AddressGuard {
  return {
    refusalOf(host) {
      const literal = host.replace(/^\[|\]$/g, '')
      return isIP(literal) !== 0 && !rules.allowsAddress(literal) ? refusal() : undefined
    },
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
  }
}

/** Agents for clients that use Node's own HTTP, such as the AWS SDK; they keep no connection, so nothing is to be closed. */
export function guardedAgents(guard: AddressGuard): { readonly httpAgent: HttpAgent; readonly httpsAgent: HttpsAgent } {
  return { httpAgent: guarded(new HttpAgent(), guard), httpsAgent: guarded(new HttpsAgent(), guard) }
}

function guarded<T extends HttpAgent>(agent: T, { refusalOf, lookup }: AddressGuard): T {
  const connect = agent.createConnection.bind(agent)
  agent.createConnection = (options, done) => {
    const refused = refusalOf(options.host ?? '')
    if (!refused) return connect({ ...options, lookup }, done)
    done?.(refused, undefined as never) // its type knows no failure without a connection
    return null
  }
  return agent
}

const refusal = () =>
  new WorkloadError(
    'url-not-allowed',
    'the URL leads to an address that is not public; OUTBOUND_ALLOW makes exceptions',
  )
