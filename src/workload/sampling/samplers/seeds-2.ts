import { firstStage, staged } from '../solvers/seeds.ts'

/** Where in λ the model is asked a second time. */
const ratio = 1 / 2

/** SEEDS-2, Gonzalez et al. (2023): two stages. */
export default staged('seeds_2', {}, async (stages, { denoised }, { denoise }) => {
  const there = await denoise(firstStage(stages, ratio, denoised), stages.levelAt(ratio))
  const [whole, share] = [-Math.expm1(-stages.exponent), 1 / (2 * ratio)]
  return stages.at(1, [
    [whole * (1 - share), denoised],
    [whole * share, there],
  ])
})
