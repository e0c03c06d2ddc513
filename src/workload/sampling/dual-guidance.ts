import type { Conditioning } from '../model/conditioning.ts'
import type { Guesses } from '../model/guidance.ts'
import type { DiffusionModel } from '../model/ports.ts'
import { addScaled, combined, type Tensor, zeros } from '../tensor/tensor.ts'
import type { Guider } from './guider.ts'
import { beginHooks, countsOnce } from './hook-chain.ts'
import { createJointGuess } from './joint-guess.ts'

/** What guidance by two conditionings steers by. */
export interface DualGuidance {
  readonly model: DiffusionModel
  readonly positive: Conditioning
  readonly middle: Conditioning
  readonly negative: Conditioning
  /** From the middle's guess to the positive's. */
  readonly positiveCfg: number
  /** From the negative's guess to the middle's or, nested, to what the other two give. */
  readonly middleCfg: number
  readonly nested: boolean
}

/**
 * Guidance by two conditionings and a negative (Brooks et al. 2023, InstructPix2Pix, eq. 3). Regular: guidance from
 * the negative to the middle, and the step from the middle to the positive added to it. Nested: guidance from the
 * middle to the positive, and from the negative to that.
 */
export function createDualCfgGuider(guidance: DualGuidance): Guider {
  const { model, positive, middle, negative, positiveCfg, middleCfg, nested } = guidance
  return {
    model,
    guide(run) {
      const { sampling } = model
      const hooks = beginHooks(model.guidance)
      const all = nested || run.asksNegative || hooks.needsNegative
      const asksNegative = all || !countsOnce(middleCfg)
      const asksMiddle = asksNegative || !countsOnce(positiveCfg)
      const own = [...(asksNegative ? [1] : []), ...(asksMiddle ? [2] : []), 0]
      const asked = [...own, ...hooks.further.map(() => 3)]
      const guess = createJointGuess(model, [positive, negative, middle, ...hooks.further], asked, run)

      const combine = (guesses: Omit<Guesses, 'sampling'>): Tensor => {
        const full = { ...guesses, sampling }
        return hooks.after(hooks.combine(full), full)
      }
      return async (x, sigma) => {
        const guesses = await guess(x, sigma)
        const whole = guesses[own.length - 1]!
        const between = asksMiddle ? guesses[own.length - 2]! : zeros(x.dims)
        const further = guesses[own.length]
        const away = asksNegative ? guesses[0]! : undefined
        if (nested) {
          const towards = combine({ x, sigma, positive: whole, negative: between, cfg: positiveCfg, further })
          return { denoised: combined([1 - middleCfg, away!], [middleCfg, towards]), negative: between }
        }
        const towards = combine({ x, sigma, positive: between, negative: away, cfg: middleCfg, further })
        const denoised = addScaled(combined([1, towards], [-positiveCfg, between]), whole, positiveCfg)
        return { denoised, negative: away }
      }
    },
  }
}
