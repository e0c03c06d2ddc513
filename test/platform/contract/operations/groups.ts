import { expect } from 'vitest'
import { containerGroupListSchema, containerGroupSchema } from '../../../../src/contracts/platform/container-group.ts'
import { type Bench, jsonOf, PROJECT } from '../bench.ts'
import { names } from '../body-faults.ts'
import { at, joined, withMember } from '../members.ts'
import type { Fault, Fixture, Operation, Params, Variant } from '../operation.ts'
import { withParams } from '../requests.ts'
import {
  aChangingGroup,
  aConnectedGroup,
  aFailedGroup,
  aGroup,
  aHalfChangedGroup,
  anInstance,
  aPendingGroup,
  aPlainGroup,
  aQueue,
  groupBody,
  networking,
  until,
} from './fixtures.ts'
import { createBounds, patchBounds } from './group-bounds.ts'

const GROUPS = `${PROJECT}/containers`
const GROUP = `${GROUPS}/:group`
const management = 'management'

const invalid = (what: string, member: string, change: object | ((body: unknown, bench: Bench) => unknown)): Fault => ({
  ...{ what, kind: 'validation', status: 400, detail: names(member) },
  put: (asked, bench) => ({
    ...asked,
    body: typeof change === 'function' ? change(asked.body, bench) : { ...(asked.body as object), ...change },
  }),
})

const http = { host: 'h', port: 1, compression: 'none', format: 'json' }
const UNKNOWN_GPU = '00000000-0000-4000-8000-000000000000'
const probe = { tcp: { port: 1 } }

/** What a body cannot say, whichever operation it is of. */
const unsayable = (image: object): readonly Fault[] => [
  invalid('two logging destinations', 'container.logging', {
    container: { ...image, logging: { tcp: { host: 'h', port: 1 }, http } },
  }),
  invalid('an unknown GPU class', 'container.resources.gpu_classes.0', {
    container: { ...image, resources: { cpu: 1, memory: 1024, gpu_classes: [UNKNOWN_GPU] } },
  }),
  ...['liveness_probe', 'readiness_probe', 'startup_probe'].flatMap((member) => [
    invalid(`a ${member} without a mechanism`, member, { [member]: { period_seconds: 5 } }),
    invalid(`a ${member} with two mechanisms`, member, { [member]: { ...probe, exec: { command: ['true'] } } }),
  ]),
  invalid('a schedule that never is', 'scaling-actions.0.schedule', {
    'scaling-actions': [{ replicas: 1, schedule: '60 * * * *' }],
  }),
]

const taken: Fault = {
  ...{ what: 'a name that is taken', kind: 'state', order: 10, status: 400, slug: 'name_conflict', detail: /^name: / },
  async put(asked, bench) {
    const { group } = await bench.standing(aGroup)
    return { ...asked, body: withMember(asked.body, 'name', group) }
  },
}

const quota: Fault = {
  ...{ what: 'more replicas than the quota', kind: 'quota', order: 11, status: 403, slug: 'quota_exceeded' },
  put: (asked) => ({ ...asked, at: 'strict', body: withMember(asked.body, 'replicas', 3) }),
}

/** Of no effect on input. */
const readOnly = {
  ...{ id: UNKNOWN_GPU, version: 7, organization_name: 'other', project_name: 'aside', priority: 'low' },
  ...{ create_time: '2020-01-01T00:00:00.000Z', pending_change: false, current_state: { status: 'running' } },
  ...{ container: { hash: `sha256:${'0'.repeat(64)}`, size: 1 }, networking: { dns: 'mine.localhost' } },
}

/** A group whose image never comes. */
const pending: Fault = {
  ...{ what: 'a pending group', kind: 'state', order: 10, status: 400 },
  put: async (asked, bench) => withParams(asked, await bench.standing(aPendingGroup)),
}

/** A request for something in another state. */
const another = (what: string, given: Fixture): Variant => ({
  what,
  put: async (asked, bench) => withParams(asked, await given(bench, bench.acme)),
})

const fixed = (member: string, value: unknown): Fault => ({
  ...{ what: `a change of ${member}`, kind: 'validation', status: 400 },
  detail: new RegExp(`${member.replaceAll('.', '\\.')}: cannot be changed after creation`),
  put: (asked) => ({ ...asked, body: withMember({}, member, value) }),
})

const image = { image: 'registry.test/usual:1', resources: { cpu: 1, memory: 1024 } }

const settled = async (bench: Bench, { group = '' }: Params): Promise<void> => {
  await until(bench, bench.acme, group, ({ pending_change }) => !pending_change)
}

/** Container groups of section 12. */
export const groupOperations: readonly Operation[] = [
  {
    ...{ surface: management, method: 'GET', path: GROUPS, given: aConnectedGroup, status: 200 },
    ...{ answer: containerGroupListSchema, paged: true },
  },
  {
    ...{ surface: management, method: 'POST', path: GROUPS, status: 201, answer: containerGroupSchema },
    body: (bench) => groupBody(bench.name()),
    required: [
      ...['name', 'container', 'container.image', 'container.resources', 'container.resources.cpu'],
      ...['container.resources.memory', 'autostart_policy', 'restart_policy', 'replicas'],
    ],
    optional: [
      ...['display_name', 'country_codes', 'networking', 'queue_connection', 'queue_autoscaler', 'liveness_probe'],
      ...['readiness_probe', 'startup_probe', 'scaling-actions', 'scheduled-scaling-enabled', 'readme'],
      ...['container.command', 'container.image_caching', 'container.environment_variables', 'container.logging'],
      ...['container.priority', 'container.registry_authentication', 'container.resources.shm_size'],
      ...['container.resources.storage_amount', 'container.resources.gpu_classes'],
    ],
    ...{ invalid: ['display_name', 1], bounds: createBounds },
    variants: [
      {
        what: 'members that can only be read',
        put: (asked) => ({ ...asked, body: joined({ ...readOnly, networking }, joined(asked.body, readOnly)) }),
        after(answer) {
          const {
            id,
            version,
            container,
            networking: shown,
            organization_name,
          } = containerGroupSchema.parse(jsonOf(answer))
          expect([version, container.hash, container.size, organization_name]).toEqual([
            1,
            undefined,
            undefined,
            'acme',
          ])
          expect([id === readOnly.id, shown?.dns === readOnly.networking.dns]).toEqual([false, false])
        },
      },
    ],
    faults: [
      taken,
      quota,
      ...unsayable(image),
      {
        ...{ what: 'more faults than fit', kind: 'validation', status: 400, detail: /^.{2000}$/s },
        put: (asked) => {
          const empty = Array.from({ length: 100 }, (_, i) => [`NAME_${i}`, ''])
          const environment_variables = Object.fromEntries(empty)
          return { ...asked, body: { ...(asked.body as object), container: { ...image, environment_variables } } }
        },
      },
      invalid('an autoscaler without a queue', 'queue_autoscaler', {
        queue_autoscaler: { desired_queue_length: 1, min_replicas: 0, max_replicas: 1 },
      }),
      {
        ...{ what: 'an autoscaler that is never content', kind: 'validation', status: 400 },
        detail: names('queue_autoscaler'),
        async put(asked, bench) {
          const { queue: queue_name } = await bench.standing(aQueue)
          const queue_autoscaler = { desired_queue_length: 1, min_replicas: 3, max_replicas: 2 }
          const queue_connection = { path: '/', port: 1, queue_name }
          return { ...asked, body: { ...(asked.body as object), queue_autoscaler, queue_connection } }
        },
      },
      {
        ...{ what: 'a queue that there is not', kind: 'validation', status: 400 },
        detail: names('queue_connection.queue_name'),
        put: (asked) => {
          const queue_connection = { path: '/', port: 1, queue_name: 'nothing-there' }
          return { ...asked, body: { ...(asked.body as object), queue_connection } }
        },
      },
    ],
    after(answer) {
      const group = containerGroupSchema.parse(jsonOf(answer))
      const { version, pending_change, create_time, update_time, current_state } = group
      const { status, start_time, finish_time } = current_state
      expect([version, status, pending_change]).toEqual([1, 'pending', true])
      expect([update_time, start_time, finish_time]).toEqual([create_time, create_time, create_time])
    },
  },
  {
    ...{ surface: management, method: 'GET', path: GROUP, given: aConnectedGroup, status: 200 },
    answer: containerGroupSchema,
  },
  {
    ...{ surface: management, method: 'PATCH', path: GROUP, given: aConnectedGroup, status: 200 },
    ...{
      answer: containerGroupSchema,
      kept: aChangingGroup,
      settled,
      bounds: patchBounds,
      invalid: ['display_name', 1],
    },
    body: () => ({ readme: 'patched' }),
    variants: [
      {
        what: 'what is stored already',
        async put(asked, bench) {
          const { body: _body, ...rest } = asked
          return { ...asked, body: jsonOf(await bench.send({ ...rest, method: 'GET' })) }
        },
        // Nothing has changed, which shows in the time of the last change.
        after: (answer, { body }) => {
          const { update_time, version } = containerGroupSchema.parse(jsonOf(answer))
          expect({ update_time, version }).toEqual({
            update_time: at(body, 'update_time'),
            version: at(body, 'version'),
          })
        },
      },
    ],
    optional: [
      ...['display_name', 'container.image', 'container.command', 'container.environment_variables'],
      ...['container.image_caching', 'container.logging', 'container.priority', 'container.registry_authentication'],
      ...['container.resources.cpu', 'container.resources.memory', 'country_codes'],
      ...['container.resources.shm_size', 'container.resources.storage_amount', 'container.resources.gpu_classes'],
      ...['liveness_probe', 'readiness_probe', 'startup_probe', 'networking.port', 'queue_autoscaler', 'replicas'],
      ...['scaling-actions', 'scheduled-scaling-enabled', 'readme'],
    ],
    faults: [
      pending,
      {
        ...{ what: 'a group whose new image is still being prepared', kind: 'state', status: 400 },
        put: async (asked, bench) => withParams(asked, await bench.standing(aHalfChangedGroup)),
      },
      {
        ...quota,
        put: async (asked, bench) => withParams(await quota.put(asked, bench), await bench.standing(aGroup)),
      },
      ...unsayable({}),
      ...(
        [
          ['name', 'another'],
          ['autostart_policy', true],
          ['restart_policy', 'never'],
          ['queue_connection.path', '/other'],
          ['queue_connection.port', 9],
          ['queue_connection.queue_name', 'other'],
          ['networking.auth', true],
          ['networking.load_balancer', 'least_number_of_connections'],
          ['networking.client_request_timeout', 1],
          ['networking.server_response_timeout', 1],
          ['networking.single_connection_limit', true],
        ] as const
      ).map(([member, value]) => fixed(member, value)),
      {
        ...fixed('networking.auth', true),
        what: 'networking where there is none',
        put: async (asked, bench) => ({
          ...withParams(asked, await bench.standing(aPlainGroup)),
          body: { networking },
        }),
      },
      {
        ...invalid('an autoscaler without a queue', 'queue_autoscaler', {}),
        put: async (asked, bench) => ({
          ...withParams(asked, await bench.standing(aGroup)),
          body: { queue_autoscaler: { desired_queue_length: 1, min_replicas: 0, max_replicas: 1 } },
        }),
      },
    ],
  },
  {
    ...{ surface: management, method: 'DELETE', path: GROUP, given: aGroup, status: 202 },
    variants: [
      another('a group that runs', anInstance),
      another('a pending group', aPendingGroup),
      another('a failed group', aFailedGroup),
    ],
    async after(_answer, asked, bench) {
      expect((await bench.send({ ...asked, method: 'GET', query: '' })).status).toBe(404)
    },
  },
  {
    ...{ surface: management, method: 'POST', path: `${GROUP}/start`, given: aGroup, status: 202 },
    faults: [pending],
    variants: [another('a group that is up', anInstance), another('a failed group', aFailedGroup)],
  },
  {
    ...{ surface: management, method: 'POST', path: `${GROUP}/stop`, given: aGroup, status: 202 },
    faults: [pending],
    variants: [another('a group that runs', anInstance), another('a failed group', aFailedGroup)],
  },
]
