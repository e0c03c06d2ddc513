import { WorkloadError } from '../base/errors.ts'
import type { Vocabulary } from './tokens.ts'
import type { WhisperConfig } from './whisper-config.ts'

/** Seconds from one token of a time to the next. */
export const TICK = 0.02

/** From this number of tokens on, a model without settings is one of many languages. */
const MANY_LANGUAGES = 51_865

/** Tokens that steer the model, and those of times, of which `firstTime` is 0 s and the last is the highest token. */
export interface SpecialTokens {
  /** Of the end; all tokens below are text. */
  readonly end: number
  readonly start: number
  readonly transcribe: number | undefined
  readonly translate: number | undefined
  readonly noSpeech: number
  readonly noTimes: number
  readonly firstTime: number
  /** By codes such as `en`; none for a model that knows English alone. */
  readonly languages: ReadonlyMap<string, number>
}

/** Finds the special tokens of a model: its settings say them, or their names do. Throws `model-unsupported` without. */
export function specialTokens({ generation, vocabularySize }: WhisperConfig, { special }: Vocabulary): SpecialTokens {
  const named = (name: string, token = special.get(name)): number => {
    if (token !== undefined) return token
    throw new WorkloadError('model-unsupported', `the speech model has no token ${name}`)
  }
  const noTimes = named('<|notimestamps|>', generation.no_timestamps_token_id ?? undefined)
  const languages = new Map(
    Object.entries(generation.lang_to_id ?? Object.fromEntries(special)).flatMap(([name, token]) => {
      const [, code] = /^<\|([a-z]{2,3})\|>$/.exec(name) ?? []
      return code ? [[code, token]] : []
    }),
  )
  const multilingual =
    generation.is_multilingual ?? (Boolean(generation.lang_to_id) || vocabularySize >= MANY_LANGUAGES)
  return {
    end: named('<|endoftext|>', generation.eos_token_id ?? undefined),
    start: named('<|startoftranscript|>', generation.decoder_start_token_id ?? undefined),
    transcribe: generation.task_to_id?.transcribe ?? special.get('<|transcribe|>'),
    translate: generation.task_to_id?.translate ?? special.get('<|translate|>'),
    noSpeech: special.get('<|nospeech|>') ?? special.get('<|nocaptions|>') ?? noTimes - 1,
    noTimes,
    firstTime: noTimes + 1,
    languages: multilingual ? languages : new Map(),
  }
}
