/** The 32-bit words of a whole number, lowest first; nought is one word. */
function wordsOf(value: bigint): number[] {
  const words = [Number(BigInt.asUintN(32, value))]
  for (let rest = value >> 32n; rest > 0n; rest >>= 32n) words.push(Number(BigInt.asUintN(32, rest)))
  return words
}

/** A hash of one word whose multiplier moves on with every call. */
function createHash(start: number, factor: number): (word: number) => number {
  let constant = start
  return (word) => {
    const mixed = word ^ constant
    constant = Math.imul(constant, factor)
    const product = Math.imul(mixed, constant)
    return product ^ (product >>> 16)
  }
}

function mix(a: number, b: number): number {
  const mixed = Math.imul(0xca01f9dd, a) - Math.imul(0x4973f715, b)
  return mixed ^ (mixed >>> 16)
}

/**
 * `count` 32-bit seeds from a seed and a path below it, as numpy's SeedSequence spreads entropy over a pool of
 * `poolSize` words (after O'Neill, "Developing a seed_seq alternative", 2015).
 */
export function seedSequence(
  entropy: bigint,
  spawnKey: readonly bigint[],
  poolSize: number,
  count: number,
): readonly number[] {
  const words = wordsOf(entropy)
  if (spawnKey.length > 0) while (words.length < poolSize) words.push(0)
  words.push(...spawnKey.flatMap(wordsOf))

  const absorb = createHash(0x43b0d7e5, 0x931e8875)
  const pool = Array.from({ length: poolSize }, (_, i) => absorb(words[i] ?? 0))
  for (let from = 0; from < poolSize; from++)
    for (let to = 0; to < poolSize; to++) if (from !== to) pool[to] = mix(pool[to]!, absorb(pool[from]!))
  for (const word of words.slice(poolSize))
    for (let to = 0; to < poolSize; to++) pool[to] = mix(pool[to]!, absorb(word))

  const release = createHash(0x8b51f9dd, 0x58f38ded)
  return Array.from({ length: count }, (_, i) => release(pool[i % poolSize]!) >>> 0)
}
