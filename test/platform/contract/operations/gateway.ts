import { expect, vi } from 'vitest'
import type { Bench, Scope } from '../bench.ts'
import type { Fault, Fixture, Operation } from '../operation.ts'
import { requestFor, withHeaders, withParams } from '../requests.ts'
import { groupBody, networking, until } from './fixtures.ts'

/** Answered by nothing that runs in a container here. */
const SILENT = '/silent'
/** Longer than a machine that runs tests needs for everything else, in milliseconds. */
const SHORT = 150

/** A workload behind the gateway, that only members may ask. */
const workload =
  (own: object = {}, replicas = 1): Fixture =>
  async (bench: Bench, scope: Scope) => {
    const group = bench.name()
    const body = groupBody(group, {
      ...{ autostart_policy: true, replicas },
      networking: { ...networking, auth: true, ...own },
    })
    await bench.does(scope, `POST /projects/${scope.project}/containers`, body)
    const { networking: found } = await until(bench, scope, group, ({ pending_change }) => !pending_change)
    return { group, host: found?.dns ?? '' }
  }

const aWorkload = workload()
const aStoppedOne = workload({}, 0)
const anImpatientOne = workload({ server_response_timeout: SHORT })
/** It takes one request at a time, and has one. */
const aBusyOne: Fixture = async (bench, scope) => {
  const given = await workload({ single_connection_limit: true, client_request_timeout: SHORT })(bench, scope)
  const before = bench.held()
  const [operation] = gatewayOperations
  bench.send({ ...requestFor(operation!, bench, given), path: SILENT }).catch(() => undefined) // it is broken off in the end
  await vi.waitFor(() => expect(bench.held()).toBeGreaterThan(before), { timeout: 20_000, interval: 5 })
  return given
}

const of =
  (given: Fixture): Fault['put'] =>
  async (asked, bench) =>
    withParams(asked, await bench.standing(given))
const refused = (what: string, key: string | undefined): Fault => ({
  ...{ what, kind: 'key', order: 2, status: 403 },
  put: (asked) => withHeaders(asked, { 'service-api-key': key }),
})

/** Everything that can be wrong with a request for a workload, in the order of section 23. */
export const gatewayFaults: readonly Fault[] = [
  {
    ...{ what: 'an unknown host', kind: 'host', order: 1, status: 404 },
    detail: 'The container group could not be found.',
    put: (asked) => withParams(asked, { host: 'nothing-there.localhost' }),
  },
  refused('no key', undefined),
  refused('an empty key', ''),
  refused('a wrong key', 'key-of-nobody'),
  refused('the key of somebody else', 'key-of-other'),
  {
    ...{ what: 'a body that is too large', kind: 'size', order: 3, status: 413 },
    put: (asked) => ({ ...asked, method: 'POST', announced: 1_073_741_825 }),
  },
  {
    ...{ what: 'a group without instances', kind: 'host', order: 4, status: 503, put: of(aStoppedOne) },
    detail: 'The container is not ready to handle the request.',
  },
  {
    ...{ what: 'an instance that stays busy', kind: 'host', order: 5, status: 504, put: of(aBusyOne) },
  },
  {
    ...{ what: 'an instance that does not answer', kind: 'host', order: 6, status: 524 },
    put: async (asked, bench) => ({ ...(await of(anImpatientOne)(asked, bench)), path: SILENT }),
  },
]

/** What the gateway passes on, whatever it is (section 23). */
export const gatewayOperations: readonly Operation[] = [
  {
    ...{ surface: 'gateway', method: 'GET', path: '/any/path', given: aWorkload, status: 200 },
    check: ({ bytes }) => expect(String(bytes)).toBe('done'),
    variants: [
      { what: 'a port in the host', put: (asked) => withParams(asked, { host: `${asked.params.host}:8080` }) },
      {
        what: 'capital letters in the host',
        put: (asked) => withParams(asked, { host: asked.params.host!.toUpperCase() }),
      },
      { what: 'a body of any kind', put: (asked) => ({ ...asked, method: 'POST', body: Buffer.alloc(100_000) }) },
    ],
  },
]
