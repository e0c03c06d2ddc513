import { expect, vi } from 'vitest'
import { containerInstanceSchema } from '../../../../src/contracts/platform/container-instance.ts'
import { imdsDeletionCostSchema, imdsStatusSchema, imdsTokenSchema } from '../../../../src/contracts/platform/imds.ts'
import { type Bench, jsonOf } from '../bench.ts'
import { integer, text } from '../bounds.ts'
import type { Operation, Params } from '../operation.ts'
import { aChangingInstance, anInstance } from './fixtures.ts'

const imds = 'imds'

/** Resolves when the instance that was asked to go, or to start again, is not there any more. */
const gone = (bench: Bench, { instance }: Params): Promise<void> =>
  vi.waitFor(
    async () => {
      const row = await bench.db.selectFrom('instances').select('state').where('id', '=', instance!).executeTakeFirst()
      if (row && row.state !== 'stopping') throw new Error(`it is still ${row.state}`)
    },
    { timeout: 20_000, interval: 5 },
  )

const action = (name: string): Operation => ({
  ...{ surface: imds, method: 'POST', path: `/v1/${name}`, given: anInstance, status: 204 },
  after: (_answer, { params }, bench) => gone(bench, params),
})

/** Section 20.2. */
export const imdsOperations: readonly Operation[] = [
  {
    ...{ surface: imds, method: 'GET', path: '/v1/token', given: anInstance, status: 200, answer: imdsTokenSchema },
    async after(answer, _asked, { tokens }) {
      const { jwt } = imdsTokenSchema.parse(jsonOf(answer))
      expect(await tokens.verify(jwt)).toMatchObject({ organization_name: 'acme' })
    },
  },
  {
    ...{ surface: imds, method: 'GET', path: '/v1/status', given: anInstance, status: 200, answer: imdsStatusSchema },
  },
  {
    ...{ surface: imds, method: 'GET', path: '/v1/deletion-cost', given: anInstance, status: 200 },
    answer: imdsDeletionCostSchema,
  },
  {
    ...{ surface: imds, method: 'PUT', path: '/v1/deletion-cost', given: anInstance, kept: aChangingInstance },
    ...{ status: 204, body: () => ({ deletion_cost: 7 }), required: ['deletion_cost'] },
    ...{ invalid: ['deletion_cost', 1.5], bounds: [integer('deletion_cost', -2_147_483_648, 2_147_483_647)] },
    async after(_answer, asked, bench) {
      const { body: _body, ...rest } = asked
      const found = await bench.send({ ...rest, method: 'GET' })
      const { deletion_cost } = asked.body as { readonly deletion_cost: number }
      expect(jsonOf(found)).toEqual({ deletion_cost })
      const { group, instance } = asked.params
      const shown = await bench.does(bench.acme, `GET /projects/demo/containers/${group}/instances/${instance}`)
      const clamped = Math.min(100_000, Math.max(0, deletion_cost))
      expect(containerInstanceSchema.parse(jsonOf(shown)).deletion_cost).toBe(clamped)
    },
  },
  action('recreate'),
  action('restart'),
  {
    ...action('reallocate'),
    ...{ body: () => ({ reason: 'it is slow' }), required: ['reason'], invalid: ['reason', 1] },
    bounds: [text('reason', 1, 1000), { member: 'Reason', accepted: ['x', 1], refused: [] }],
  },
]
