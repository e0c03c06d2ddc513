const size = 624
const shift = 397

/**
 * A source of uniform 32-bit integers: MT19937 of Matsumoto and Nishimura (1998), initialised from one 32-bit number as
 * in their 2002 revision.
 */
export function createMersenneTwister(seed: number): () => number {
  const state = new Uint32Array(size)
  state[0] = seed
  for (let j = 1; j < size; j++) {
    const previous = state[j - 1]!
    state[j] = Math.imul(1812433253, previous ^ (previous >>> 30)) + j
  }
  let at = size

  const twist = (i: number, next: number, far: number): void => {
    const y = (state[i]! & 0x80000000) | (state[next]! & 0x7fffffff)
    state[i] = state[far]! ^ (y >>> 1) ^ (y & 1 ? 0x9908b0df : 0)
  }
  const refill = (): void => {
    for (let i = 0; i < size - shift; i++) twist(i, i + 1, i + shift)
    for (let i = size - shift; i < size - 1; i++) twist(i, i + 1, i + shift - size)
    twist(size - 1, 0, shift - 1)
    at = 0
  }

  return () => {
    if (at === size) refill()
    let y = state[at++]!
    y ^= y >>> 11
    y ^= (y << 7) & 0x9d2c5680
    y ^= (y << 15) & 0xefc60000
    return (y ^ (y >>> 18)) >>> 0
  }
}
