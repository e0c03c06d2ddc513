import type { Conditioning } from '../model/conditioning.ts'
import type { DiffusionModel } from '../model/ports.ts'
import { rowsOf, stackRows, takeRows } from '../tensor/rows.ts'
import { combined, type Tensor, zeros } from '../tensor/tensor.ts'
import { createControlCaller } from './control-pass.ts'
import type { GuidanceRun } from './guider.ts'
import { passesFor } from './plan.ts'
import { cutTo, type Region } from './region.ts'
import { appliesAt, type ResolvedEntry, resolvedEntries, type Window } from './resolved-entries.ts'
import type { Share, SharedPass } from './shares.ts'

/** Guesses at the clean image, one for each conditioning that was asked. */
export type JointGuess = (x: Tensor, sigma: number) => Promise<readonly Tensor[]>

/**
 * Asks the model under several conditionings at once. `sides` are all conditionings of the run, the positive first and the negative second;
 * `asked` are the places of those to guess under, in the order of the guesses. Each guess is the mean of its entries'
 * guesses, weighted at every cell by their strengths there; where no entry reaches it is nought.
 */
export function createJointGuess(
  model: DiffusionModel,
  sides: readonly Conditioning[],
  asked: readonly number[],
  { latent, noiseMask, signal }: GuidanceRun,
): JointGuess {
  const { sampling, network } = model
  const [height, width] = latent.dims.slice(-2) as [number, number]
  const resolved = resolvedEntries(model, sides, { height, width, latent, noiseMask })
  const entries = asked.map((side) => resolved[side]!)
  const windows = distinctWindows(entries.flat())
  const residualsFor = createControlCaller(signal)

  /** By the shape of x and which windows are open: both change rarely, if at all, during a run. */
  const plans = new Map<string, readonly SharedPass[]>()
  const passesAt = ({ dims }: Tensor, sigma: number): readonly SharedPass[] => {
    let key = dims.join()
    for (const window of windows) key += appliesAt(window, sigma) ? '+' : '-'
    const known = plans.get(key)
    if (known) return known
    const [rows, , h, w] = dims as [number, number, number, number]
    const passes = passesFor(entries, rows, { height: h, width: w }, (window) => appliesAt(window, sigma))
    plans.set(key, passes)
    return passes
  }

  return async (x, sigma) => {
    const parts: Part[][] = asked.map(() => [])
    const input = sampling.scaleInput(x, sigma)
    const timestep = sampling.timestep(sigma)
    const rows = rowsOf(x)
    const [inputIn, xIn] = [createCutter(input), createCutter(x)]
    for (const { shares, inputs, controls } of passesAt(x, sigma)) {
      signal.throwIfAborted()
      const count = shares.length * rows
      const batch = stackRows(
        shares.map(({ region }) => inputIn(region)),
        count,
      )
      const timesteps = new Array<number>(count).fill(timestep)
      const control = controls.length > 0 ? await residualsFor({ controls, inputs, rows }, batch, timesteps) : undefined
      const output = await network.predict(batch, timesteps, inputs, { sigma, control })
      shares.forEach((share, i) => {
        const own = takeRows(output, i * rows, (i + 1) * rows)
        parts[share.side]!.push({ ...share, guess: sampling.denoised(xIn(share.region), own, sigma) })
      })
    }
    return parts.map((own) => blended(x, own))
  }
}

/** A guess and where and how much it counts. */
interface Part extends Pick<Share, 'region' | 'weight'> {
  readonly guess: Tensor
}

function distinctWindows(entries: readonly ResolvedEntry[]): readonly Window[] {
  const windows = new Map<string, Window>()
  for (const { window, controls } of entries)
    for (const one of [window, ...controls.map((control) => control.window)])
      if (one) windows.set(`${one.start} ${one.end}`, one)
  return [...windows.values()]
}

/** Cuts regions out of `t`, each once. */
function createCutter(t: Tensor): (region: Region | undefined) => Tensor {
  const cuts = new Map<Region, Tensor>()
  return (region) => {
    if (!region) return t
    const cut = cuts.get(region) ?? cutTo(t, region)
    cuts.set(region, cut)
    return cut
  }
}

function blended({ dims }: Tensor, parts: readonly Part[]): Tensor {
  if (parts.length === 0) return zeros(dims)
  const uniform = parts.flatMap(({ weight, guess }) => (typeof weight === 'number' ? [[weight, guess] as const] : []))
  if (uniform.length === parts.length) return parts.length === 1 ? parts[0]!.guess : combined(...uniform)
  const sum = zeros(dims)
  for (const { guess, weight, region } of parts) {
    if (typeof weight !== 'number') addWithin(sum, guess, weight, region)
  }
  return sum
}

/** Adds `guess` `[N, C, h, w]`, weighted by `weights` `[1 or N, h, w]`, to the cells of `sum` that it is a guess at. */
function addWithin(sum: Tensor, guess: Tensor, weights: Tensor, region: Region | undefined): void {
  const [rows, channels, fullHeight, fullWidth] = sum.dims as [number, number, number, number]
  const { y, x, height, width } = region ?? { y: 0, x: 0, height: fullHeight, width: fullWidth }
  const [to, from, weight] = [sum.data, guess.data, weights.data]
  const ownPlanes = rowsOf(weights) > 1
  let at = 0
  for (let row = 0; row < rows; row++) {
    for (let channel = 0; channel < channels; channel++) {
      for (let line = 0; line < height; line++) {
        const start = ((row * channels + channel) * fullHeight + y + line) * fullWidth + x
        const plane = ((ownPlanes ? row * height : 0) + line) * width
        for (let i = 0; i < width; i++, at++) to[start + i]! += from[at]! * weight[plane + i]!
      }
    }
  }
}
