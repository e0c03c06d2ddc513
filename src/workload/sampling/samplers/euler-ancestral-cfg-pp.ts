import type { NoiseOptions } from '../ancestral.ts'
import type { Sampler } from '../sampler.ts'
import { cfgPpEuler } from '../solvers/cfg-pp-euler.ts'

/** Euler's method of CFG++ over ancestral steps. */
export const eulerAncestralCfgPp = (options: NoiseOptions = {}): Sampler =>
  cfgPpEuler('euler_ancestral_cfg_pp', options)

export default eulerAncestralCfgPp()
