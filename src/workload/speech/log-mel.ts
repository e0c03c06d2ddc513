import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Tensor, tensor } from '../tensor/tensor.ts'
import { melFilters } from './log-mel-filters.ts'
import { complex, createFourier } from './log-mel-fourier.ts'

/** Samples a second. */
export const SAMPLE_RATE = 16_000
/** Samples from one frame of the spectrogram to the next: 10 ms. */
export const HOP = 160
/** Samples under one frame: 25 ms. */
export const FRAME = 400

const PLACES = FRAME / 2 + 1
/** The least power that is told from silence, and its logarithm. */
const LEAST_POWER = 1e-10
const SILENCE = -10
/** How far below the loudest value all others are cut off, in powers of ten. */
const RANGE = 8
/** Frames after which others get a turn. */
const BLOCK = 2000

/** How loud each pitch is over time, as Whisper hears it; silence follows the end. */
export interface LogMel {
  /** Frames that lie within the samples. */
  readonly frames: number
  /** `[1, mels, count]`, from the frame `from` on. */
  window(from: number, count: number): Tensor
}

/**
 * Whisper's spectrogram of all `samples` (16 kHz) with `mels` pitches: Hann windows centred on the frames, power, mel
 * filters, logarithm, cut off 8 powers of ten below the loudest and scaled to about -1 to 1. What lies before the
 * beginning is its mirror image; behind the end is silence (Radford et al., 2022, section 2.2, and its published code).
 *
 * Hours of it would fill memory, so all of it is looked through once for the loudest value, and a window is made when
 * it is asked for: twice the work, which is little beside the encoder's.
 */
export async function logMelOf(samples: Float32Array, mels: number, signal: AbortSignal): Promise<LogMel> {
  // The last windows reach behind the end, where all further ones are silent.
  const sounding = Math.ceil((samples.length + FRAME / 2) / HOP)
  const logsOf = createAnalysis(samples, mels)
  let loudest = SILENCE
  for (let frame = 0; frame < sounding; frame += BLOCK) {
    await nextTurn()
    signal.throwIfAborted()
    loudest = logsOf(frame, Math.min(BLOCK, sounding - frame)).reduce((most, value) => Math.max(most, value), loudest)
  }
  const floor = Math.max(loudest - RANGE, SILENCE)
  const scaled = (value: number): number => (Math.max(value, floor) + 4) / 4
  return {
    frames: Math.floor(samples.length / HOP),
    window(from, count) {
      const data = new Float32Array(mels * count).fill(scaled(SILENCE))
      const heard = Math.max(0, Math.min(count, sounding - from))
      const logs = logsOf(from, heard)
      for (let mel = 0; mel < mels; mel++)
        for (let i = 0; i < heard; i++) data[mel * count + i] = scaled(logs[i * mels + mel]!)
      return tensor([1, mels, count], data)
    },
  }
}

/** Logarithms of the powers, `[count, mels]`, of frames of `samples`. Two at a time, as parts of complex values. */
function createAnalysis(samples: Float32Array, mels: number): (from: number, count: number) => Float32Array {
  const transform = createFourier()
  const filters = melFilters(mels, PLACES, SAMPLE_RATE / 2)
  const hann = Float64Array.from({ length: FRAME }, (_, i) => 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / FRAME))
  const pair = complex(FRAME)
  const power = new Float64Array(PLACES)
  const next = new Float64Array(PLACES)
  const sampleAt = (i: number): number => samples[Math.abs(i)] ?? 0

  const transformPair = (frame: number): void => {
    const start = frame * HOP - FRAME / 2
    for (let i = 0; i < FRAME; i++) {
      pair.re[i] = hann[i]! * sampleAt(start + i)
      pair.im[i] = hann[i]! * sampleAt(start + HOP + i)
    }
    const { re, im } = transform(pair)
    for (let i = 0; i < PLACES; i++) {
      const mirror = i === 0 ? 0 : FRAME - i
      power[i] = ((re[i]! + re[mirror]!) ** 2 + (im[i]! - im[mirror]!) ** 2) / 4
      next[i] = ((im[i]! + im[mirror]!) ** 2 + (re[i]! - re[mirror]!) ** 2) / 4
    }
  }
  const writeLogs = (logs: Float32Array, at: number, powers: Float64Array): void => {
    for (let mel = 0; mel < mels; mel++) {
      const { first, weights } = filters[mel]!
      let sum = 0
      for (let i = 0; i < weights.length; i++) sum += weights[i]! * powers[first + i]!
      logs[at + mel] = Math.log10(Math.max(sum, LEAST_POWER))
    }
  }
  return (from, count) => {
    const logs = new Float32Array(count * mels)
    for (let i = 0; i < count; i += 2) {
      transformPair(from + i)
      writeLogs(logs, i * mels, power)
      if (i + 1 < count) writeLogs(logs, (i + 1) * mels, next)
    }
    return logs
  }
}
