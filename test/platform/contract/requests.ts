import type { Bench } from './bench.ts'
import type { Asked, Operation, Params } from './operation.ts'

/** What a request of each surface is let in with. */
const admission = {
  management: ({ acme }: Bench) => ({ 'service-api-key': acme.key }),
  storage: ({ acme }: Bench) => ({ 'service-api-key': acme.key }),
  imds: () => ({ metadata: 'true' }),
  gateway: ({ acme }: Bench) => ({ 'service-api-key': acme.key }),
} as const

/** A request for an operation with nothing wrong in it. */
export function requestFor(operation: Operation, bench: Bench, given: Params): Asked {
  const { surface, method, path, query = '', body } = operation
  const type = operation.type ?? (method === 'PATCH' ? 'application/merge-patch+json' : 'application/json')
  return {
    ...{ surface, method, path, query, at: 'usual' },
    params: { organization: bench.acme.organization, project: bench.acme.project, ...given },
    headers: { ...admission[surface](bench), ...(body && { 'content-type': type }) },
    ...(body && { body: body(bench) }),
  }
}

/** The same request with other headers; those that are undefined are left out. */
export function withHeaders(
  asked: Asked,
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): Asked {
  const all = Object.entries({ ...asked.headers, ...headers })
  return {
    ...asked,
    headers: Object.fromEntries(all.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))),
  }
}

/** The same request for something else. */
export const withParams = (asked: Asked, params: Params): Asked => ({
  ...asked,
  params: { ...asked.params, ...params },
})

/** The same request with one more query parameter. */
export const withQuery = (asked: Asked, query: string): Asked => ({
  ...asked,
  query: [asked.query, query].filter((part) => part !== '').join('&'),
})
