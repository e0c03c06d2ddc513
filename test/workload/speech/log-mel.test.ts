import { describe, expect, it } from 'vitest'
import { logMelOf } from '../../../src/workload/speech/log-mel.ts'
import { chirp, whisperGoldens } from '../../support/whisper-goldens.ts'

const { signal } = new AbortController()

describe('the spectrogram', () => {
  it.each(whisperGoldens.spectrograms)('is that of transformers, with $mels pitches', async (golden) => {
    const { mels, everyMel, everyFrame, values } = golden
    const { data } = (await logMelOf(chirp(), mels, signal)).window(0, 300)
    const seen: number[] = []
    for (let mel = 0; mel < mels; mel += everyMel)
      for (let frame = 0; frame < 300; frame += everyFrame) seen.push(data[mel * 300 + frame]!)
    expect(seen).toHaveLength(values.length)
    const worst = Math.max(...seen.map((value, i) => Math.abs(value - values[i]!)))
    expect(worst).toBeLessThan(1e-4)
  })

  it('is the same wherever a window begins', async () => {
    const mel = await logMelOf(chirp(), 80, signal)
    const [whole, later] = [mel.window(0, 240).data, mel.window(33, 100).data]
    for (const pitch of [0, 20, 79])
      expect([...later.subarray(pitch * 100, (pitch + 1) * 100)]).toEqual([
        ...whole.subarray(pitch * 240 + 33, pitch * 240 + 133),
      ])
  })

  it('is silent behind the end, and for silence everywhere', async () => {
    const mel = await logMelOf(chirp(), 80, signal)
    expect(mel.frames).toBe(250)
    const behind = mel.window(260, 50).data
    expect(new Set(behind).size).toBe(1)
    const silence = (await logMelOf(new Float32Array(1600), 80, signal)).window(0, 20).data
    expect(new Set(silence)).toEqual(new Set([-1.5]))
  })

  it('is of no frames when there are too few samples for one', async () => {
    expect((await logMelOf(new Float32Array(0), 80, signal)).frames).toBe(0)
    expect((await logMelOf(Float32Array.of(0.5), 80, signal)).window(0, 3).dims).toEqual([1, 80, 3])
  })

  it('stops when it is aborted', async () => {
    const reason = new Error('no longer wanted')
    await expect(logMelOf(chirp(), 80, AbortSignal.abort(reason))).rejects.toBe(reason)
  })
})
