import { expect } from 'vitest'
import {
  containerInstanceListSchema,
  containerInstanceSchema,
} from '../../../../src/contracts/platform/container-instance.ts'
import { jsonOf, PROJECT } from '../bench.ts'
import { integer } from '../bounds.ts'
import type { Fault, Operation } from '../operation.ts'
import { withParams } from '../requests.ts'
import { aChangingInstance, aGroup, anInstance } from './fixtures.ts'

const INSTANCES = `${PROJECT}/containers/:group/instances`
const INSTANCE = `${INSTANCES}/:instance`
const management = 'management'

const ofAnotherGroup: Fault = {
  ...{ what: 'an instance of another group', kind: 'instance', status: 404 },
  detail: 'The container instance could not be found.',
  put: async (asked, bench) => withParams(asked, await bench.standing(aGroup)),
}

const tooOften: Fault = {
  ...{ what: 'more actions than a minute may have', kind: 'limit', order: 11, status: 429 },
  also: ({ headers }) => expect(headers['retry-after']).toMatch(/^[1-9]\d*$/),
  put: (asked) => ({ ...asked, at: 'strict' }),
}

const action = (name: string): Operation => ({
  ...{ surface: management, method: 'POST', path: `${INSTANCE}/${name}`, given: anInstance, status: 202 },
  faults: [ofAnotherGroup, tooOften],
})

/** Instances of section 12. */
export const instanceOperations: readonly Operation[] = [
  {
    ...{ surface: management, method: 'GET', path: INSTANCES, given: anInstance, status: 200 },
    answer: containerInstanceListSchema,
    after(answer) {
      expect(containerInstanceListSchema.parse(jsonOf(answer)).instances).toHaveLength(1)
    },
  },
  {
    ...{ surface: management, method: 'GET', path: INSTANCE, given: anInstance, status: 200 },
    ...{ answer: containerInstanceSchema, faults: [ofAnotherGroup] },
  },
  {
    ...{ surface: management, method: 'PATCH', path: INSTANCE, given: anInstance, status: 200 },
    ...{ answer: containerInstanceSchema, kept: aChangingInstance, faults: [ofAnotherGroup] },
    body: () => ({ deletion_cost: 5 }),
    ...{ optional: ['deletion_cost'], invalid: ['deletion_cost', '5'], closed: true },
    bounds: [integer('deletion_cost', 0, 100_000)],
    after(answer, { body }) {
      const { deletion_cost } = body as { readonly deletion_cost: number | null }
      expect(containerInstanceSchema.parse(jsonOf(answer)).deletion_cost).toBe(deletion_cost ?? 0)
    },
  },
  ...['restart', 'recreate', 'reallocate'].map(action),
]
