/** Dice that fall the same for the same seed. */
export interface Random {
  /** 0 to 1, without 1. */
  (): number
  shuffled<T>(items: readonly T[]): readonly T[]
}

/** Park and Miller's minimal standard generator. */
export function createRandom(seed: number): Random {
  let state = (seed % 2_147_483_646) + 1
  const next = (): number => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
  const shuffled = <T>(items: readonly T[]): readonly T[] =>
    items
      .map((item) => [next(), item] as const)
      .sort(([a], [b]) => a - b)
      .map(([, item]) => item)
  return Object.assign(next, { shuffled })
}

/** The seed that `SEED` names; without one, another with every run, so it must be printed. */
export const seedOfRun = (now: number): number => Number(process.env.SEED ?? now % 100_000)
