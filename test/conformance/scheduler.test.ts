import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { loadSchedulers } from '../../src/workload/sampling/load-schedulers.ts'
import { readGoldens } from '../support/goldens.ts'
import { type SamplingModelName, samplingModels } from '../support/sampling-models.ts'

const { schedules } = readGoldens<{ readonly schedules: Readonly<Record<string, readonly (number | null)[]>> }>(
  'golden_sampling',
)
const tolerance = 1e-6
const schedulers = await loadSchedulers()

describe('schedulers', () => {
  it('are listed as ComfyUI lists them', () => {
    expect([...schedulers.keys()]).toEqual([
      'simple',
      'sgm_uniform',
      'karras',
      'exponential',
      'ddim_uniform',
      'beta',
      'normal',
      'linear_quadratic',
      'kl_optimal',
    ])
  })
})

describe.each([...schedulers])('scheduler %s', (name, scheduler) => {
  it('lives in a file of its own name', () => {
    expect(readdirSync('src/workload/sampling/schedulers')).toContain(`${name.replaceAll('_', '-')}.ts`)
  })

  const cases = Object.entries(schedules).filter(([key]) => key.split('/')[1] === name)

  it('has reference levels', () => {
    expect(cases.length).toBeGreaterThan(0)
  })

  it.each(cases)('gives the reference levels of %s', (key, wanted) => {
    const [model, , steps] = key.split('/') as [SamplingModelName, string, string]
    const sigmas = scheduler.sigmas(Number(steps), samplingModels[model])
    expect(sigmas).toHaveLength(wanted.length)
    for (const [i, value] of wanted.entries()) {
      if (value === null) expect(sigmas[i]).toBeNaN()
      else expect(Math.abs(sigmas[i]! - value), `level ${i}`).toBeLessThanOrEqual(tolerance * Math.abs(value))
    }
  })
})
