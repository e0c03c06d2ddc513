import type { Conditioning } from '../model/conditioning.ts'
import type { DiffusionModel } from '../model/ports.ts'
import { rowsOf, stackRows, takeRows } from '../tensor/rows.ts'
import { combined, type Tensor, zeros } from '../tensor/tensor.ts'
import type { Denoiser } from './sampler.ts'
import { passesOf, type Share, type SharedPass, sharesOf } from './shares.ts'

export interface Guidance {
  readonly model: DiffusionModel
  readonly positive: Conditioning
  readonly negative: Conditioning
  /** How far to go from the negative's guess towards the positive's and beyond; at 1 the negative is not asked. */
  readonly cfg: number
  readonly signal: AbortSignal
}

/** A share, and the conditioning that it belongs to by its place in the list of them. */
interface SidedShare extends Share {
  readonly side: number
}

/**
 * Classifier-free guidance (Ho and Salimans 2022) as a denoiser: negative + (positive - negative)·cfg, all entries of
 * both in one pass of the network where their shapes allow it, the negative's rows first.
 */
export function createGuidedDenoiser({ model, positive, negative, cfg, signal }: Guidance): Denoiser {
  const unguided = Math.abs(cfg - 1) <= 1e-9 * Math.max(Math.abs(cfg), 1)
  const denoise = createJointDenoiser(model, unguided ? [positive] : [negative, positive], signal)
  return async (x, sigma) => {
    const guesses = await denoise(x, sigma)
    return unguided ? guesses[0]! : combined([1 - cfg, guesses[0]!], [cfg, guesses[1]!])
  }
}

/**
 * Asks the model for several conditionings at once: one guess for each of `conditionings`, the mean of its entries'
 * guesses weighted by their strengths. A conditioning without entries guesses noughts.
 */
function createJointDenoiser(
  model: DiffusionModel,
  conditionings: readonly Conditioning[],
  signal: AbortSignal,
): (x: Tensor, sigma: number) => Promise<readonly Tensor[]> {
  const { sampling } = model
  let prepared: { readonly shape: string; readonly passes: readonly SharedPass<SidedShare>[] } | undefined

  /** Latents keep their shape during a run, so the passes are put together once. */
  const passesFor = ({ dims }: Tensor): readonly SharedPass<SidedShare>[] => {
    const shape = dims.join()
    if (prepared?.shape !== shape) {
      const [rows, , height, width] = dims as [number, number, number, number]
      const shares = conditionings.flatMap((conditioning, side) =>
        sharesOf(model, conditioning, { height, width }).map((share) => ({ ...share, side })),
      )
      prepared = { shape, passes: passesOf(shares, rows) }
    }
    return prepared.passes
  }

  return async (x, sigma) => {
    const guesses: { readonly side: number; readonly weight: number; readonly guess: Tensor }[] = []
    const input = sampling.scaleInput(x, sigma)
    const timestep = sampling.timestep(sigma)
    const rows = rowsOf(x)
    for (const { shares, inputs } of passesFor(x)) {
      signal.throwIfAborted()
      const count = shares.length * rows
      const batch = stackRows(new Array<Tensor>(shares.length).fill(input), count)
      const output = await model.network.predict(batch, new Array<number>(count).fill(timestep), inputs)
      shares.forEach(({ side, weight }, i) => {
        const own = takeRows(output, i * rows, (i + 1) * rows)
        guesses.push({ side, weight, guess: sampling.denoised(x, own, sigma) })
      })
    }
    return conditionings.map((_, side) =>
      weightedMean(
        x,
        guesses.filter((guess) => guess.side === side),
      ),
    )
  }
}

function weightedMean(
  { dims }: Tensor,
  guesses: readonly { readonly weight: number; readonly guess: Tensor }[],
): Tensor {
  const total = guesses.reduce((sum, { weight }) => sum + weight, 0)
  if (total === 0) return zeros(dims)
  if (guesses.length === 1) return guesses[0]!.guess
  return combined(...guesses.map(({ weight, guess }) => [weight / total, guess] as const))
}
