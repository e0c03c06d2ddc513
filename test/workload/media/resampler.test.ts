import { describe, expect, it } from 'vitest'
import { createResampler } from '../../../src/workload/media/resampler.ts'

const sine = (hz: number, rate: number, seconds: number): Float32Array =>
  Float32Array.from({ length: Math.round(rate * seconds) }, (_, i) => Math.sin((2 * Math.PI * hz * i) / rate))

/** All of `samples` at 16 kHz, given in pieces of changing length. */
function resample(samples: Float32Array, from: number): Float32Array {
  const resampler = createResampler(from, 16_000)
  const parts: Float32Array[] = []
  for (let at = 0, length = 1; at < samples.length; at += length, length = (length * 7 + 3) % 5000)
    parts.push(resampler.push(samples.slice(at, at + length)))
  parts.push(resampler.end())
  return Float32Array.from(parts.flatMap((part) => [...part]))
}

/** How far `made` lies above its difference from `wanted`, in decibels, without the edges, where silence begins. */
function signalToNoise(made: Float32Array, wanted: Float32Array): number {
  let [signal, noise] = [0, 0]
  for (let i = 200; i < wanted.length - 200; i++) {
    signal += wanted[i]! ** 2
    noise += (made[i]! - wanted[i]!) ** 2
  }
  return 10 * Math.log10(signal / noise)
}

const power = (samples: Float32Array) =>
  10 * Math.log10(samples.slice(200, -200).reduce((sum, x) => sum + x * x, 0) / samples.length)

describe('a resampler to 16 kHz', () => {
  it.each([8000, 11_025, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000, 192_000, 44_101, 47_999])(
    'keeps a tone from %i Hz where it was, 60 dB above what it adds',
    (rate) => {
      for (const hz of [100, 1000, 3100]) {
        const made = resample(sine(hz, rate, 0.25), rate)
        expect(made.length).toBe(Math.ceil((Math.round(rate / 4) / rate) * 16_000))
        expect(signalToNoise(made, sine(hz, 16_000, 0.25)), `${hz} Hz`).toBeGreaterThan(60)
      }
    },
  )

  it('takes away what 16 kHz cannot hold, instead of folding it back', () => {
    for (const hz of [8500, 9000, 12_000, 20_000])
      expect(power(resample(sine(hz, 48_000, 0.25), 48_000))).toBeLessThan(-60)
    expect(power(resample(sine(6500, 48_000, 0.25), 48_000))).toBeGreaterThan(-4)
  })

  it('gives nothing for nothing, and something for a single sample', () => {
    expect(resample(new Float32Array(0), 44_100).length).toBe(0)
    expect(resample(new Float32Array([1]), 8000).length).toBe(2)
  })
})
