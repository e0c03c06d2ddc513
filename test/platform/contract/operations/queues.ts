import { expect } from 'vitest'
import { z } from 'zod'
import { containerGroupSchema } from '../../../../src/contracts/platform/container-group.ts'
import { queueListSchema, queueSchema } from '../../../../src/contracts/platform/queue.ts'
import { queueJobListSchema, queueJobSchema } from '../../../../src/contracts/platform/queue-job.ts'
import { jsonOf, PROJECT } from '../bench.ts'
import { name, text, url } from '../bounds.ts'
import { withMember } from '../members.ts'
import type { Bound, Fault, Fixture, Operation } from '../operation.ts'
import { withParams } from '../requests.ts'
import { aConnectedGroup, aQueue, aQueueJob } from './fixtures.ts'

const QUEUES = `${PROJECT}/queues`
const QUEUE = `${QUEUES}/:queue`
const JOB = `${QUEUE}/jobs/:job`
const management = 'management'

/** Connected groups are there in full. */
const wholeQueueSchema = queueSchema.extend({ container_groups: z.array(containerGroupSchema).max(100) })

/** A queue that feeds a group. */
const aFeedingQueue: Fixture = async (bench, scope) => {
  const { group } = await aConnectedGroup(bench, scope)
  const answer = await bench.does(scope, `GET /projects/${scope.project}/containers/${group}`)
  return { queue: containerGroupSchema.parse(jsonOf(answer)).queue_connection?.queue_name ?? '' }
}

const described: readonly Bound[] = [
  { ...text('display_name', 2, 63), refused: ['x', 'x'.repeat(64), 'a_b', 'ä1', 1] },
  text('description', 0, 500),
]

const taken: Fault = {
  ...{ what: 'a name that is taken', kind: 'state', order: 10, status: 400, slug: 'name_conflict', detail: /^name: / },
  async put(asked, bench) {
    const { queue } = await bench.standing(aQueue)
    return { ...asked, body: withMember(asked.body, 'name', queue) }
  },
}

/** Jobs that are in another queue of the same project. */
const ofAnotherQueue: Fault = {
  ...{ what: 'a job of another queue', kind: 'job', status: 404, detail: 'The job could not be found.' },
  put: async (asked, bench) => withParams(asked, await bench.standing(aQueue)),
}

const properties = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, i]))

/** Section 11. */
export const queueOperations: readonly Operation[] = [
  {
    ...{ surface: management, method: 'GET', path: QUEUES, given: aQueue, status: 200 },
    ...{ answer: queueListSchema, paged: true },
  },
  {
    ...{ surface: management, method: 'POST', path: QUEUES, status: 201, answer: queueSchema },
    body: (bench) => ({ name: bench.name() }),
    ...{ required: ['name'], optional: ['display_name', 'description'], invalid: ['display_name', 1] },
    ...{ bounds: [name('name'), ...described], faults: [taken] },
  },
  {
    ...{ surface: management, method: 'GET', path: QUEUE, given: aFeedingQueue, status: 200, answer: wholeQueueSchema },
    after: (answer) => expect(queueSchema.parse(jsonOf(answer)).container_groups).toHaveLength(1),
  },
  {
    ...{ surface: management, method: 'PATCH', path: QUEUE, given: aQueue, status: 200, answer: queueSchema },
    body: () => ({ description: 'patched' }),
    ...{ optional: ['display_name', 'description'], invalid: ['display_name', 1], bounds: described },
  },
  { ...{ surface: management, method: 'DELETE', path: QUEUE, given: aQueue, status: 202 } },
  {
    ...{ surface: management, method: 'GET', path: `${QUEUE}/jobs`, given: aQueueJob, status: 200 },
    ...{ answer: queueJobListSchema, paged: true },
  },
  {
    ...{ surface: management, method: 'POST', path: `${QUEUE}/jobs`, given: aQueue, status: 201 },
    answer: queueJobSchema,
    body: () => ({ input: { prompt: { seed: 1 } } }),
    ...{ required: ['input'], optional: ['metadata', 'webhook'], invalid: ['metadata', 1] },
    bounds: [
      { member: 'input', accepted: [{}, [], 0, false, '', 'x', [null], { a: null }], refused: [] },
      { member: 'metadata', accepted: [{}, properties(20), { a: null }], refused: [properties(21), [], 'x'] },
      url('webhook'),
    ],
    after(answer) {
      const { status, events, create_time, update_time } = queueJobSchema.parse(jsonOf(answer))
      expect([status, update_time]).toEqual(['pending', create_time])
      expect(events).toEqual([{ action: 'created', time: create_time }])
    },
  },
  {
    ...{ surface: management, method: 'GET', path: JOB, given: aQueueJob, status: 200, answer: queueJobSchema },
    faults: [ofAnotherQueue],
  },
  {
    ...{ surface: management, method: 'DELETE', path: JOB, given: aQueueJob, status: 202, faults: [ofAnotherQueue] },
    async after(_answer, asked, bench) {
      const found = await bench.send({ ...asked, method: 'GET', query: '' })
      expect(queueJobSchema.parse(jsonOf(found)).status).toBe('cancelled')
    },
  },
]
