import { readFileSync } from 'node:fs'

/** What transformers makes of the tiny Whisper and of Whisper's spectrogram; tools/whisper-tiny/goldens.py wrote it. */
export const whisperGoldens = JSON.parse(readFileSync('test/fixtures/whisper-tiny.json', 'utf8')) as {
  /** Of `chirp`, some values of its first 300 frames. */
  readonly spectrograms: readonly {
    readonly mels: number
    readonly everyMel: number
    readonly everyFrame: number
    readonly values: readonly number[]
  }[]
  /** Of the first text that was `heard`. */
  readonly numbers: {
    readonly prompt: readonly number[]
    readonly everyPlace: number
    readonly everyValue: number
    readonly encoded: readonly number[]
    readonly everyLogit: number
    readonly logits: readonly number[]
  }
  /** Runs of tokens that the rules of times leave after what was written; the first may be 1 s. */
  readonly rules: readonly {
    readonly written: readonly number[]
    readonly number: number
    readonly left: readonly (readonly [from: number, to: number])[]
  }[]
  /** What is heard in `toneSpeech` of a text; tokens with their times, seconds from the beginning. */
  readonly heard: readonly {
    readonly text: string
    readonly language: 'en' | 'de' | 'fr'
    readonly task: 'transcribe' | 'translate'
    readonly detected: string
    readonly segments: readonly { readonly start: number; readonly end: number; readonly tokens: readonly number[] }[]
  }[]
}

/** 2.5 s at 16 kHz that rise from 100 Hz to 3600 Hz. */
export function chirp(): Float32Array {
  return Float32Array.from({ length: 40_000 }, (_, i) => {
    const t = i / 16_000
    return 0.5 * Math.sin(2 * Math.PI * (100 * t + 700 * t * t))
  })
}
