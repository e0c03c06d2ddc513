import { createMersenneTwister } from '../tensor/mersenne-twister.ts'

/** A token and how sure it is among all that may be written. */
export interface Choice {
  readonly token: number
  /** The natural logarithm of its probability at temperature 1. */
  readonly logProbability: number
}

/** Picks a token from `logits`: -Infinity is never picked. */
export type Choose = (logits: Float32Array) => Choice

/** Takes the likeliest token at `temperature` 0, else draws by chance; the same seed draws the same again. */
export function createChooser(temperature: number, seed: number): Choose {
  const next = createMersenneTwister(seed)
  const uniform = (): number => (next() >>> 0) / 2 ** 32
  return (logits) => {
    const token = temperature === 0 ? likeliest(logits) : drawn(logits, temperature, uniform())
    return { token, logProbability: logits[token]! - logOfSum(logits) }
  }
}

/** The place of the highest value, the first of several. */
export function likeliest(values: Float32Array): number {
  let best = 0
  for (let i = 1; i < values.length; i++) if (values[i]! > values[best]!) best = i
  return best
}

/** Probabilities of `token` among all of `logits`. */
export function probabilityOf(logits: Float32Array, token: number): number {
  return Math.exp(logits[token]! - logOfSum(logits))
}

function logOfSum(logits: Float32Array): number {
  const most = logits[likeliest(logits)]!
  let sum = 0
  for (const logit of logits) sum += Math.exp(logit - most)
  return most + Math.log(sum)
}

function drawn(logits: Float32Array, temperature: number, at: number): number {
  const most = logits[likeliest(logits)]!
  const weights = Float64Array.from(logits, (logit) => Math.exp((logit - most) / temperature))
  let left = at * weights.reduce((sum, weight) => sum + weight, 0)
  const token = weights.findIndex((weight) => {
    left -= weight
    return left < 0
  })
  return token < 0 ? likeliest(logits) : token // the last bits of a sum may be lost
}
