import type { Conditioning } from '../model/conditioning.ts'
import type { GuidanceHook } from '../model/guidance.ts'
import type { DiffusionModel } from '../model/ports.ts'
import { combined, type Tensor, zeros } from '../tensor/tensor.ts'
import type { Guider } from './guider.ts'
import { beginHooks, countsOnce } from './hook-chain.ts'
import { createJointGuess } from './joint-guess.ts'

/** What perpendicular guidance steers by. */
export interface PerpendicularGuidance {
  readonly model: DiffusionModel
  readonly positive: Conditioning
  readonly negative: Conditioning
  /** What an empty text gives: where both directions are measured from. */
  readonly empty: Conditioning
  readonly cfg: number
  readonly negativeScale: number
}

/**
 * Perp-Neg (Armandpour et al. 2023): of the direction towards the negative only the part perpendicular to the
 * positive's counts, so that the negative cannot take away what the positive asks for.
 */
export function createPerpendicularGuider(guidance: PerpendicularGuidance): Guider {
  const { model, positive, negative, empty, cfg, negativeScale } = guidance
  return {
    model,
    guide(run) {
      const { sampling } = model
      const hooks = beginHooks(model.guidance)
      const asksNegative = run.asksNegative || hooks.needsNegative || negativeScale !== 0
      const asksEmpty = asksNegative || !countsOnce(cfg)
      const asked = [...(asksEmpty ? [2] : []), ...(asksNegative ? [1] : []), 0]
      const guess = createJointGuess(model, [positive, negative, empty], asked, run)
      return async (x, sigma) => {
        const guesses = await guess(x, sigma)
        const base = asksEmpty ? guesses[0]! : zeros(x.dims)
        const away = asksNegative ? guesses.at(-2)! : undefined
        const changed = hooks.before({ x, sigma, sampling, positive: guesses.at(-1)!, negative: away, cfg })
        const denoised = perpendicular(changed.positive, changed.negative ?? base, base, negativeScale, cfg)
        return { denoised: hooks.after(denoised, changed), negative: changed.negative }
      }
    },
  }
}

/** The same as a change to a model, for guiders that know no empty conditioning. */
export function perpendicularHook(empty: Conditioning, negativeScale: number): GuidanceHook {
  return {
    further: empty,
    combine({ x, positive, negative = zeros(x.dims), cfg, further = zeros(x.dims) }) {
      return perpendicular(positive, negative, further, negativeScale, cfg)
    },
  }
}

/** `base` + cfg·(P - scale·Q⊥), where P and Q lead from `base` to the two guesses; sums run over the whole batch. */
function perpendicular(positive: Tensor, negative: Tensor, base: Tensor, scale: number, cfg: number): Tensor {
  let [both, square] = [0, 0]
  for (let i = 0; i < base.data.length; i++) {
    const towards = positive.data[i]! - base.data[i]!
    both += towards * (negative.data[i]! - base.data[i]!)
    square += towards ** 2
  }
  const towards = combined([1, positive], [-1, base])
  if (scale === 0) return combined([1, base], [cfg, towards])
  const away = combined([1, negative], [-1, base])
  return combined([1, base], [cfg * (1 + (scale * both) / square), towards], [-cfg * scale, away])
}
