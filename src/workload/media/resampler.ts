/** Zero crossings of the kernel on each side of its middle: enough for a stop band 80 dB down. */
const CROSSINGS = 24
/** How much of the band below half the lower rate is kept; the rest is where the filter falls off. */
const KEPT = 0.92
/** Kaiser's parameter for such a stop band. */
const BETA = 8
/** More positions between two samples than this are not told apart, which is 70 dB below what is heard. */
const MOST_PHASES = 4096

/** Brings samples that come in pieces to another rate. */
export interface Resampler {
  /** The samples that are certain after `piece`. */
  push(piece: Float32Array): Float32Array
  /** The rest, with silence after it. */
  end(): Float32Array
}

/**
 * A band-limited resampler: a Kaiser-windowed sinc for each position that an output sample can have between two input
 * samples. Output sample n lies at exactly n / `to` seconds; there is no delay. Rates are in Hz.
 */
export function createResampler(from: number, to: number): Resampler {
  const divisor = greatestCommonDivisor(from, to)
  /** Input samples for each output sample are `step` / `parts`. */
  const [parts, step] = [to / divisor, from / divisor]
  const phases = Math.min(parts, MOST_PHASES)
  const cutoff = (Math.min(from, to) / from) * KEPT
  const half = Math.ceil(CROSSINGS / cutoff)
  const kernels: Float32Array[] = []
  const kernelOf = (phase: number): Float32Array => {
    kernels[phase] ??= kernelAt(phase / phases, half, cutoff)
    return kernels[phase]
  }
  /** Input that is still needed; the first sample of all has `half` of silence before it. */
  let kept = new Float32Array(half)
  /** Where in the input `kept` begins. */
  let offset = -half
  let [received, made] = [0, 0]

  const produce = (until: number): Float32Array => {
    const produced = new Float32Array(Math.max(0, until - made))
    for (let i = 0; i < produced.length; i++) {
      const at = (made + i) * step
      const phase = Math.round(((at % parts) / parts) * phases)
      const middle = Math.floor(at / parts) + Math.floor(phase / phases)
      const kernel = kernelOf(phase % phases)
      const first = middle - half + 1 - offset
      let sum = 0
      for (let tap = 0; tap < kernel.length; tap++) sum += kernel[tap]! * kept[first + tap]!
      produced[i] = sum
    }
    made += produced.length
    const unneeded = Math.min(kept.length, Math.max(0, Math.floor((made * step) / parts) - half - offset))
    kept = kept.slice(unneeded)
    offset += unneeded
    return produced
  }
  const take = (piece: Float32Array): void => {
    const all = new Float32Array(kept.length + piece.length)
    all.set(kept)
    all.set(piece, kept.length)
    kept = all
  }
  return {
    push(piece) {
      take(piece)
      received += piece.length
      return produce(Math.floor(((received - half - 1) * parts) / step))
    },
    end() {
      take(new Float32Array(2 * half + 2))
      return produce(Math.ceil((received * parts) / step))
    },
  }
}

/** The weights of the `2 · half` samples around a position `fraction` of a sample after the middle one, with sum 1. */
function kernelAt(fraction: number, half: number, cutoff: number): Float32Array {
  const weights = Array.from({ length: 2 * half }, (_, tap) => {
    const distance = tap - (half - 1) - fraction
    return sinc(distance * cutoff) * kaiser(distance / half)
  })
  const sum = weights.reduce((total, weight) => total + weight, 0)
  return Float32Array.from(weights, (weight) => weight / sum)
}

const sinc = (x: number): number => (x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x))

const kaiser = (x: number): number => (Math.abs(x) >= 1 ? 0 : bessel(BETA * Math.sqrt(1 - x * x)) / bessel(BETA))

/** The modified Bessel function of the first kind and order 0, by its power series. */
function bessel(x: number): number {
  let [sum, term] = [1, 1]
  for (let k = 1; term > sum * 1e-12; k++) {
    term *= (x / (2 * k)) ** 2
    sum += term
  }
  return sum
}

const greatestCommonDivisor = (a: number, b: number): number => (b === 0 ? a : greatestCommonDivisor(b, a % b))
