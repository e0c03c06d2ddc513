import type { Conditioning } from '../model/conditioning.ts'
import type { DiffusionModel } from '../model/ports.ts'
import type { Guider } from './guider.ts'
import { beginHooks, countsOnce, guided } from './hook-chain.ts'
import { createJointGuess } from './joint-guess.ts'

/** What classifier-free guidance steers by. */
export interface Guidance {
  readonly model: DiffusionModel
  readonly positive: Conditioning
  readonly negative: Conditioning
  /** How far to go from the negative's guess towards the positive's and beyond; at 1 the negative is not asked. */
  readonly cfg: number
}

/**
 * Classifier-free guidance (Ho and Salimans 2022): negative + (positive - negative)·cfg, all entries of both in one
 * pass of the network where their shapes allow it, the negative's rows first.
 */
export function createCfgGuider({ model, positive, negative, cfg }: Guidance): Guider {
  return {
    model,
    guide(run) {
      const { sampling } = model
      const hooks = beginHooks(model.guidance)
      const both = run.asksNegative || hooks.needsNegative || !countsOnce(cfg)
      const asked = [...(both ? [1] : []), 0, ...hooks.further.map(() => 2)]
      const guess = createJointGuess(model, [positive, negative, ...hooks.further], asked, run)
      return async (x, sigma) => {
        const guesses = await guess(x, sigma)
        const own = both
          ? { negative: guesses[0]!, positive: guesses[1]! }
          : { negative: undefined, positive: guesses[0]! }
        return guided(hooks, { x, sigma, sampling, ...own, cfg, further: guesses[both ? 2 : 1] })
      }
    },
  }
}

/** No guidance: the guess under `positive` as it is, and none under a negative. */
export function createBasicGuider(model: DiffusionModel, positive: Conditioning): Guider {
  return {
    model,
    guide(run) {
      const { sampling } = model
      const hooks = beginHooks(model.guidance)
      const guess = createJointGuess(model, [positive, ...hooks.further], [0, ...hooks.further.map(() => 1)], run)
      return async (x, sigma) => {
        const [alone, further] = await guess(x, sigma)
        return guided(hooks, { x, sigma, sampling, positive: alone!, negative: undefined, cfg: 1, further })
      }
    },
  }
}
