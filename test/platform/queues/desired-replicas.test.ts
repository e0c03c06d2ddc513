import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { desiredReplicas } from '../../../src/platform/queues/desired-replicas.ts'

const plain = { desired_queue_length: 3, min_replicas: 0, max_replicas: 10 }
const still = { added: 0, removed: 0 }

describe('the replicas of a group that follows its queue', () => {
  it.each([
    ['15 jobs of 3 each', plain, { queueLength: 15, replicas: 0 }, 5],
    ['no jobs', plain, { queueLength: 0, replicas: 4 }, 0],
    ['a job more than fits', plain, { queueLength: 16, replicas: 5 }, 6],
    ['no jobs, but a minimum', { ...plain, min_replicas: 2 }, { queueLength: 0, replicas: 4 }, 2],
    ['more jobs than the maximum can take', plain, { queueLength: 1000, replicas: 4 }, 10],
    ['a limit upwards', { ...plain, max_upscale_per_minute: 2 }, { queueLength: 30, replicas: 1 }, 3],
    ['a limit downwards', { ...plain, max_downscale_per_minute: 1 }, { queueLength: 0, replicas: 9 }, 8],
    [
      'a limit that is used in part',
      { ...plain, max_upscale_per_minute: 3 },
      { queueLength: 30, replicas: 3, added: 2 },
      4,
    ],
    [
      'a limit that is used up',
      { ...plain, max_downscale_per_minute: 2 },
      { queueLength: 0, replicas: 9, removed: 2 },
      9,
    ],
  ])('with %s', (_what, autoscaler, state, replicas) => {
    expect(desiredReplicas(autoscaler, { ...still, ...state })).toBe(replicas)
  })

  it('reach their target and stay there, within their bounds', () => {
    const few = fc.integer({ min: 1, max: 20 })
    fc.assert(
      fc.property(few, few, few, few, fc.nat(500), fc.nat(40), (each, low, more, limit, queueLength, start) => {
        const autoscaler = {
          desired_queue_length: each,
          min_replicas: low,
          max_replicas: low + more,
          max_upscale_per_minute: limit,
          max_downscale_per_minute: limit,
        }
        let replicas = start
        for (let minute = 0; minute < 60; minute++) {
          const next = desiredReplicas(autoscaler, { queueLength, replicas, ...still })
          expect(Math.abs(next - replicas)).toBeLessThanOrEqual(limit)
          replicas = next
        }
        expect(replicas).toBe(Math.min(low + more, Math.max(low, Math.ceil(queueLength / each))))
      }),
    )
  })
})
