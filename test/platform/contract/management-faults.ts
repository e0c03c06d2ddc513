import { expect } from 'vitest'
import { type BodyOrder, bodyFaults } from './body-faults.ts'
import type { Asked, Fault, Operation } from './operation.ts'
import { withHeaders, withParams, withQuery } from './requests.ts'

const body: BodyOrder = { size: 7, media: 8, validation: 9, most: 10 * 2 ** 20 }
const NO_UUID = '00000000-0000-4000-8000-00000000000'
const UNKNOWN_UUID = `${NO_UUID}0`

/** What the parameters of paths are called in problems, in the order in which they are looked for. */
const resources: Readonly<Record<string, string>> = {
  endpoint: 'inference endpoint',
  queue: 'queue',
  job: 'job',
  group: 'container group',
  instance: 'container instance',
}

/** Everything that can be wrong with any operation of the management API, in the order of section 4.3. */
export function managementFaults(operation: Operation, methods: readonly string[]): readonly Fault[] {
  const { path, faults = [] } = operation
  const isOpen = !path.startsWith('/api/public')
  return [
    ...routeFaults(operation, methods),
    ...(isOpen ? [] : [...keyFaults(operation), ...placeFaults(path), ...resourceFaults(operation)]),
    ...bodyFaults(operation, body),
    ...(operation.paged ? pagingFaults : []),
    ...faults,
  ]
}

/** A route that there is not, and a method that a route has not; `methods` are those that it has. */
function routeFaults({ path }: Operation, methods: readonly string[]): readonly Fault[] {
  const allowed = methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
  const others = ['PUT', 'PATCH', 'DELETE', 'POST', 'GET', 'OPTIONS'].filter((method) => !allowed.includes(method))
  return [
    {
      ...{ what: 'an unknown route', kind: 'route', status: 404, detail: 'The resource could not be found.' },
      put: (asked) => ({ ...asked, path: `${path}/no/such/route` }),
    },
    ...others.map(
      (method): Fault => ({
        ...{ what: method, kind: 'route', order: 1, status: 405 },
        also: ({ headers }) => expect((headers.allow ?? '').split(', ').sort()).toEqual([...allowed].sort()),
        put: (asked) => ({ ...asked, method }),
      }),
    ),
  ]
}

function keyFaults({ of }: Operation): readonly Fault[] {
  const key = (what: string, value: string | undefined): Fault => ({
    ...{ what, kind: 'key', order: 2, status: 401 },
    put: (asked) => withHeaders(asked, { 'service-api-key': value }),
  })
  return [
    key('no key', undefined),
    key('an empty key', ''),
    key('a wrong key', 'key-of-nobody'),
    {
      ...{ what: 'more requests than a minute has', kind: 'rate', order: 3 },
      status: of === 'transcription-lite' ? 409 : 429,
      also: ({ headers }) => expect(headers['retry-after']).toMatch(/^[1-9]\d*$/),
      put: (asked) => ({ ...asked, at: 'limited' }),
    },
    {
      ...{ what: 'records that are away', kind: 'away', status: 500, detail: 'Something unexpected happened.' },
      put: (asked) => ({ ...asked, at: 'away' }),
    },
  ]
}

function placeFaults(path: string): readonly Fault[] {
  const unknown = (parameter: 'organization' | 'project', order: number, value: string): Fault => ({
    ...{ what: `${parameter} ${value}`, kind: parameter, order, status: 404 },
    detail: `The ${parameter} could not be found.`,
    put: (asked) => withParams(asked, { [parameter]: value }),
  })
  return [
    ...['nowhere', 'A%00', 'a', 'a'.repeat(64)].map((value) => unknown('organization', 4, value)),
    {
      ...{ what: 'a path with a broken escape', kind: 'route', status: 404 },
      put: (asked) => withParams(asked, { organization: 'a%zz' }),
    },
    {
      ...{ what: 'an organization of others', kind: 'organization', order: 5, status: 403 },
      put: (asked, { other }) => withParams(asked, { organization: other.organization }),
    },
    ...(path.includes(':project') ? ['nowhere', 'P%C3%BC', 'p'] : []).map((value) => unknown('project', 6, value)),
  ]
}

/** What the path names besides is not there, cannot be there, or belongs to another project or organization. */
function resourceFaults({ path, given, of }: Operation): readonly Fault[] {
  const parameters = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name).filter((name) => name in resources)
  return parameters.flatMap((name, i) => {
    const isId = name === 'job' || name === 'instance'
    // What is refused for being asked too often depends on the endpoint.
    const isPaired = !(name === 'endpoint' && of === 'transcription-lite')
    const missing = (what: string, put: Fault['put']): Fault => ({
      ...{ what: `${what} ${resources[name]}`, kind: name, status: 404 },
      ...(isPaired && { order: 6 + (i + 1) / 10 }),
      detail: `The ${resources[name]} could not be found.`,
      put,
    })
    const called = (what: string, value: string) => missing(what, (asked) => withParams(asked, { [name]: value }))
    return [
      called('an unknown', isId ? UNKNOWN_UUID : 'nothing-there'),
      called('a malformed', isId ? NO_UUID : 'Nothing_There'),
      missing('somebody else’s', async (asked, bench) => {
        const scope = path.includes(':project') ? bench.aside : bench.other
        const { [name]: theirs = '' } =
          name === 'endpoint' ? { endpoint: 'private' } : await bench.standing(given!, scope)
        return withParams(asked, { [name]: theirs })
      }),
    ]
  })
}

/** Of collections (section 2.3). */
const pagingFaults: readonly Fault[] = [
  ...['page=0', 'page=2147483648', 'page=-1', 'page=1.5', 'page=x', 'page=', 'page=1&page=2'],
  ...['page_size=0', 'page_size=101', 'page_size=1e1', 'page_size=', 'page_size=1&page_size=2'],
].map((query) => ({
  ...{ what: `?${query}`, kind: 'validation', order: 9, status: 400 },
  detail: new RegExp(`^${query.split('=', 1)[0]}: `),
  put: (asked: Asked) => withQuery(asked, query),
}))
