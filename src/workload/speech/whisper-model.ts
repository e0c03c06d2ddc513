import { WorkloadError } from '../base/errors.ts'
import type { Held } from '../runtime/exported-graph.ts'
import type { Tensor } from '../tensor/tensor.ts'
import { likeliest, probabilityOf } from './decode-choice.ts'
import { splitWindow } from './decode-segments.ts'
import { type DecodingParts, decodeWindow, rowOf, SILENCE } from './decode-window.ts'
import { logMelOf, SAMPLE_RATE } from './log-mel.ts'
import type { SpeechModel, SpokenSegment, TranscribeOptions, Transcript } from './speech-model.ts'
import type { WhisperConfig } from './whisper-config.ts'
import { createSpeaker } from './whisper-spoken.ts'

/** Seconds from one frame of the spectrogram to the next; two are a tick of the decoder's times. */
const FRAME_SECONDS = 0.01
/** What is left of the samples at the end is not worth a window if it has fewer frames than this. */
const FEWEST_FRAMES = 20

/** An opened Whisper. */
export interface WhisperParts extends DecodingParts {
  readonly config: WhisperConfig
  /** `[1, mels, frames]` to what the decoder listens to. */
  encode(features: Tensor): Promise<Held>
  release(): Promise<void>
}

/**
 * A Whisper as a model of speech: window after window, each from where the last one had heard everything. None is told
 * the text before it, as one that went wrong would lead the next astray.
 */
export function createWhisperModel(parts: WhisperParts): SpeechModel {
  const { config, decoder, special } = parts
  const codes = [...special.languages.keys()]
  const languages = codes.length > 0 ? codes : ['en']

  /** The likeliest language of a window, and whether anybody speaks there at all. */
  const hear = async (encoded: Held): Promise<{ readonly language: string; readonly spoken: boolean }> => {
    if (codes.length === 0) return { language: 'en', spoken: true }
    const logits = rowOf(await decoder.start(encoded, [special.start]), 0)
    const best = likeliest(Float32Array.from(special.languages.values(), (token) => logits[token]!))
    return { language: codes[best]!, spoken: probabilityOf(logits, special.noSpeech) <= SILENCE }
  }

  const transcribe = async (samples: Float32Array, options: TranscribeOptions): Promise<Transcript> => {
    const { signal } = options
    if (options.language !== undefined && !languages.includes(options.language))
      throw new WorkloadError('invalid-request', `the speech model does not know the language ${options.language}`)
    const task = taskToken(parts, options.task)
    const mel = await logMelOf(samples, config.mels, signal)
    const segments: SpokenSegment[] = []
    let language = options.language
    let guess: string | undefined
    let at = 0
    while (mel.frames - at >= FEWEST_FRAMES) {
      signal.throwIfAborted()
      const encoded = await parts.encode(mel.window(at, config.frames))
      signal.throwIfAborted()
      if (language === undefined) {
        const heard = await hear(encoded)
        guess ??= heard.language
        if (heard.spoken) language = heard.language
      }
      const spoken = language ?? guess!
      const prompt = codes.length > 0 ? [special.start, special.languages.get(spoken)!, task!] : [special.start]
      const window = await decodeWindow(parts, await decoder.start(encoded, prompt), signal)
      const ticks = Math.floor(Math.min(config.frames, mel.frames - at) / 2)
      const { segments: found, advance } = window.silent
        ? { segments: [], advance: ticks }
        : splitWindow(window, special, ticks)
      const speak = createSpeaker(parts, { encoded, prompt, window, language: spoken, from: at * FRAME_SECONDS })
      segments.push(...(await speak(found, options.words)))
      at += 2 * Math.max(1, advance)
      options.onProgress?.(Math.min(samples.length / SAMPLE_RATE, at * FRAME_SECONDS))
    }
    return { language: language ?? guess ?? (languages.includes('en') ? 'en' : languages[0]!), segments }
  }

  return { languages, transcribe, close: parts.release }
}

/** The token of a task; undefined for a model that has but one. Throws `invalid-request` for one that it cannot do. */
function taskToken({ special }: WhisperParts, task: TranscribeOptions['task']): number | undefined {
  if (special.languages.size === 0 && task === 'transcribe') return undefined
  const token = special.languages.size > 0 ? special[task] : undefined
  if (token !== undefined) return token
  throw new WorkloadError('invalid-request', `the speech model cannot ${task}`)
}
