import type { Conditioning } from '../model/conditioning.ts'
import type { Guesses, GuidanceHook } from '../model/guidance.ts'
import { combined, type Tensor } from '../tensor/tensor.ts'
import type { GuessPair } from './sampler.ts'

/** How the guesses of one run become one, with all that a model's hooks change about it. */
export interface HookChain {
  /** Whether the negative has to be asked even where it would not count. */
  readonly needsNegative: boolean
  /** The further conditionings that the hook which combines needs the guess under: one or none. */
  readonly further: readonly Conditioning[]
  /** The guesses as they are to be combined. */
  before(guesses: Guesses): Guesses
  /** Their combination: that of the last hook that gives one, or else the linear formula. */
  combine(guesses: Guesses): Tensor
  /** What the hooks make of the combination. */
  after(denoised: Tensor, guesses: Guesses): Tensor
}

/** A hook chain for one run: hooks that remember begin anew. */
export function beginHooks(hooks: readonly GuidanceHook[] = []): HookChain {
  const begun = hooks.map((hook) => hook.begin?.() ?? hook)
  const combining = begun.findLast((hook) => hook.combine)
  return {
    needsNegative: begun.some((hook) => hook.needsNegative),
    further: combining?.further ? [combining.further] : [],
    before: (guesses) => begun.reduce((changed, hook) => hook.before?.(changed) ?? changed, guesses),
    combine: (guesses) => combining?.combine?.(guesses) ?? linear(guesses),
    after: (denoised, guesses) => begun.reduce((changed, hook) => hook.after?.(changed, guesses) ?? changed, denoised),
  }
}

/** All of a chain in its order: what the guided guess is, and the negative's beside it for samplers that ask. */
export function guided(hooks: HookChain, guesses: Guesses): GuessPair {
  const changed = hooks.before(guesses)
  const denoised = hooks.after(hooks.combine(changed), changed)
  return { denoised, negative: changed.negative }
}

/** Classifier-free guidance (Ho and Salimans 2022): negative + (positive - negative)·cfg. */
function linear({ positive, negative, cfg }: Guesses): Tensor {
  return negative ? combined([1 - cfg, negative], [cfg, positive]) : positive
}

/** Whether a scale is 1, so that the guess it leads away from does not count. */
export const countsOnce = (cfg: number): boolean => Math.abs(cfg - 1) <= 1e-9 * Math.max(Math.abs(cfg), 1)
