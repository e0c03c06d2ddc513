import type { Tensor } from '../../tensor/tensor.ts'
import { linspace } from '../linspace.ts'
import type { SamplingRun } from '../sampler.ts'
import {
  between,
  firstOrder,
  lowestLevel,
  type Place,
  placeAt,
  secondOrder,
  thirdOrder,
  timeOf,
} from '../solvers/dpm-solver.ts'

/** Where the two further guesses of a third-order step are made. */
const thirds = { first: 1 / 3, second: 2 / 3 }

/** The orders of the steps that ask the model `count` times in all: as many threes as leave a lower step at the end. */
function ordersFor(count: number): readonly number[] {
  const threes = Math.floor(count / 3)
  return count % 3 === 0
    ? [...new Array<number>(threes - 1).fill(3), 2, 1]
    : [...new Array<number>(threes).fill(3), count % 3]
}

/**
 * DPM-Solver-fast, Lu et al. (2022), appendix D.3: steps of equal length in ln σ that ask the model as often as there are
 * steps in the schedule, of which only the ends count. It ends at the lowest level, not at 0, and reports its own steps.
 */
export default Object.freeze({
  name: 'dpm_fast',
  async sample(start: Tensor, run: SamplingRun) {
    if (run.sigmas.length < 2) return start
    const orders = ordersFor(run.sigmas.length - 1)
    const times = linspace(timeOf(run.sigmas[0]!), timeOf(lowestLevel(run.sigmas)), orders.length + 1)

    const advance = async (place: Place, to: number, order: number) => {
      if (order === 1) return firstOrder(place, to)
      if (order === 2) return secondOrder(place, await between(run, place, to, 1 / 2), to, 1 / 2)
      return thirdOrder(run, place, await between(run, place, to, thirds.first), to, thirds)
    }
    let x = start
    for (const [i, order] of orders.entries()) {
      const place = await placeAt(run, x, times[i]!)
      x = await advance(place, times[i + 1]!, order)
      run.onStep?.(i + 1, orders.length, place.denoised)
    }
    return x
  },
})
