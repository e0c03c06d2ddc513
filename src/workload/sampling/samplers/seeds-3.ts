import { firstStage, staged } from '../solvers/seeds.ts'

/** Where in λ the model is asked a second and a third time. */
const [first, second] = [1 / 3, 2 / 3]

/** SEEDS-3, Gonzalez et al. (2023): three stages. */
export default staged('seeds_3', {}, async (stages, { denoised }, { denoise }) => {
  const there = await denoise(firstStage(stages, first, denoised), stages.levelAt(first))
  /** The weight of what the guess has changed, over a stage that ends at `ratio` of the step. */
  const change = (ratio: number) => Math.expm1(-ratio * stages.exponent) / (ratio * stages.exponent) + 1
  const toSecond = (second / first) * change(second)
  const halfway = stages.at(second, [
    [-Math.expm1(-second * stages.exponent) - toSecond, denoised],
    [toSecond, there],
  ])
  const beyond = await denoise(halfway, stages.levelAt(second))
  const toEnd = change(1) / second
  return stages.at(1, [
    [-Math.expm1(-stages.exponent) - toEnd, denoised],
    [toEnd, beyond],
  ])
})
