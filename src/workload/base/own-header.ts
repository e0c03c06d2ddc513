import { isListed } from './name-list.ts'

/** One header of the operator's, e.g. `Authorization`, and the hosts that may see it. */
export interface OwnHeader {
  readonly name: string | undefined
  readonly value: string | undefined
  /** Host names, with `*` for anything; one with a port stands for that port only. */
  readonly hosts: readonly string[]
}

/** The headers with which this server shows itself to `url`'s host: none for a host that is not listed. */
export function ownHeaderFor({ name, value, hosts }: OwnHeader, url: URL): Readonly<Record<string, string>> {
  const known = isListed(hosts, url.hostname) || isListed(hosts, url.host)
  return known && name !== undefined && value !== undefined ? { [name.toLowerCase()]: value } : {}
}
