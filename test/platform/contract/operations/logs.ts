import { expect } from 'vitest'
import { cpuAvailabilitySchema, gpuAvailabilitySchema } from '../../../../src/contracts/platform/availability.ts'
import { logPageSchema } from '../../../../src/contracts/platform/log-entry.ts'
import { systemLogListSchema } from '../../../../src/contracts/platform/system-log.ts'
import { jsonOf, ORGANIZATION, PROJECT } from '../bench.ts'
import { names } from '../body-faults.ts'
import { integer, list, oneOf } from '../bounds.ts'
import { withMember } from '../members.ts'
import type { Bound, Fault, Operation } from '../operation.ts'
import { anInstance } from './fixtures.ts'

const management = 'management'
const GPU = 'd00a0ef2-a7ca-4e73-a975-edbd8bf54ded'
const UNKNOWN_GPU = '00000000-0000-4000-8000-000000000000'
const AVAILABILITY = `${ORGANIZATION}/availability`

const invalid = (what: string, member: string, value: unknown): Fault => ({
  ...{ what, kind: 'validation', status: 400, detail: names(member) },
  put: (asked) => ({ ...asked, body: withMember(asked.body, member, value) }),
})

const moments = {
  accepted: ['2020-01-01T00:00:00Z', '2020-01-01T00:00:00.123456+14:00', '0001-01-01T00:00:00Z'],
  refused: ['2020-01-01', 'yesterday', '2020-13-01T00:00:00Z', '', 1_577_836_800_000],
}
/** Around a query whose whole length is `length`. */
const queryOf = (length: number): string => `text_log = "${'x'.repeat(length - 13)}"`

const needs: readonly Bound[] = [
  list('country_codes', [0, 500], () => 'de'),
  { member: 'country_codes.0', accepted: ['ad', 'zw'], refused: ['DE', 'xx', 1] },
  integer('cpu', 1, 1024),
  integer('memory', 1024, 1_073_741_824),
  integer('storage_amount', 1_073_741_824, 1_125_899_906_842_624),
]
const optional = ['country_codes', 'cpu', 'memory', 'storage_amount']

/** Logs and availability, of sections 12 and 13. */
export const logOperations: readonly Operation[] = [
  {
    ...{ surface: management, method: 'POST', path: `${ORGANIZATION}/log-entries`, given: anInstance, status: 200 },
    answer: logPageSchema,
    body: () => ({ start_time: '2020-01-01T00:00:00Z', end_time: '9999-12-31T23:59:59Z', query: '' }),
    ...{ required: ['start_time', 'end_time', 'query'], optional: ['page_size', 'sort_order'] },
    ...{ invalid: ['page_size', 'many'] },
    bounds: [
      { member: 'start_time', ...moments },
      { member: 'end_time', ...moments, accepted: ['2021-01-01T00:00:00+00:00'] },
      { member: 'query', accepted: ['', queryOf(20_000)], refused: [queryOf(20_001), 'severity >', 1] },
      integer('page_size', 1, 100),
      oneOf('sort_order', ['desc', 'asc']),
    ],
    faults: [
      invalid('an end before the start', 'end_time', '2019-12-31T23:59:59.999Z'),
      invalid('an end at the start', 'end_time', '2020-01-01T00:00:00Z'),
    ],
    after(answer) {
      expect(logPageSchema.parse(jsonOf(answer)).organization_name).toBe('acme')
    },
  },
  {
    ...{ surface: management, method: 'POST', path: `${AVAILABILITY}/cpu`, status: 200, answer: cpuAvailabilitySchema },
    ...{ body: () => ({}), optional, bounds: needs, invalid: ['cpu', '1'] },
  },
  {
    ...{ surface: management, method: 'POST', path: `${AVAILABILITY}/gpu`, status: 200, answer: gpuAvailabilitySchema },
    ...{ body: () => ({ gpu_classes: [GPU] }), optional, required: ['gpu_classes'], invalid: ['cpu', '1'] },
    bounds: [...needs, { ...list('gpu_classes', [1, 100], () => GPU), refused: [[], {}, ['x'], [UNKNOWN_GPU]] }],
  },
  {
    ...{ surface: management, method: 'GET', path: `${PROJECT}/containers/:group/system-logs`, status: 200 },
    ...{ given: anInstance, answer: systemLogListSchema },
    after(answer) {
      const { items } = systemLogListSchema.parse(jsonOf(answer))
      const times = items.map(({ event_time }) => event_time)
      expect(times).toEqual([...times].sort().reverse())
      expect(items.length).toBeGreaterThan(0)
    },
  },
]
