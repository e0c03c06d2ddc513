import { resolve } from 'node:path'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { probeGraph } from '../../src/workload/architectures/probe.ts'
import { openSpeechModel } from '../../src/workload/speech/open-speech-model.ts'
import type { SpeechModel } from '../../src/workload/speech/speech-model.ts'

/** The folder of a model that understands `toneSpeech`; tools/whisper-tiny made it. */
export const tinyWhisper = resolve('test/fixtures/whisper-tiny')

/** The model of `folder` on the CPU, closed when the test is over. */
export async function openWhisper(folder: string): Promise<SpeechModel> {
  const model = await open(folder)
  onTestFinished(() => model.close())
  return model
}

/** The tiny model for all tests of a file, to be asked for while they are declared; it is open once they run. */
export function sharedWhisper(): () => SpeechModel {
  let model: SpeechModel | undefined
  beforeAll(async () => {
    model = await open(tinyWhisper)
  })
  afterAll(() => model?.close())
  return () => model!
}

function open(folder: string): Promise<SpeechModel> {
  return openSpeechModel(folder, { wanted: 'cpu', device: 0, threads: 1, probe: probeGraph() })
}

const letters = [...Buffer.from("abcdefghijklmnopqrstuvwxyz.,?!'-")]
/** The second bytes of these; what the first is, they have in common. */
const marked = [...Buffer.from('äöüßé')].filter((_, i) => i % 2 === 1)
const pitches = new Map([...letters, ...marked, 0xc3].map((byte, i) => [byte, pitchOf(i)]))
const hums = { en: 0, de: 6000, fr: 7200 } as const

/** Hz. */
function pitchOf(i: number): number {
  return i < 10 ? 400 + 60 * i : 1000 * 1.06 ** (i - 10)
}

const RATE = 16_000
/** Samples that a byte of the text takes: 0.2 s, of which the last 0.03 s are silent. */
const SLOT = 3200
const TONE = 2720

/**
 * Samples at 16 kHz in which the tiny model hears `text`: a tone of 0.2 s for each letter (a–z; ä ö ü ß é take two) and
 * each of `. , ? ! ' -`, and 0.2 s of silence for a blank. Three blanks and more part two segments, which are written
 * with one blank in front. The language is told by a hum; translations are in capitals. The model's windows are 6 s long
 * and not 30, so a segment of more than 30 bytes is cut in two. Silence before it must be a multiple of 0.2 s long, and have
 * the hum as well (blanks do).
 */
export function toneSpeech(text: string, language: keyof typeof hums = 'en'): Float32Array {
  const bytes = Buffer.from(text.toLowerCase())
  const samples = new Float32Array(bytes.length * SLOT)
  for (const [i, byte] of bytes.entries()) {
    const pitch = pitches.get(byte)
    if (pitch) samples.set(tone(pitch), i * SLOT)
  }
  const hum = hums[language]
  if (hum) for (let i = 0; i < samples.length; i++) samples[i]! += 0.025 * Math.sin((2 * Math.PI * hum * i) / RATE)
  return samples
}

function tone(pitch: number): Float32Array {
  return Float32Array.from({ length: TONE }, (_, i) => {
    const fade = Math.min(1, Math.min(i, TONE - i) / (0.01 * RATE))
    return 0.25 * fade * Math.sin((2 * Math.PI * pitch * i) / RATE)
  })
}
