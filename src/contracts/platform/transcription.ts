import { z } from 'zod'
import { flag, integer, oneOf, text } from './fields.ts'
import { jobRequestFields, webUrl } from './job-fields.ts'

/** The languages that can be named (platform reference, section 7). */
export const languageCodes = `
  en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta no th ur hr bg
  lt la mi ml cy sk te fa lv bn sr az sl kn et mk br eu is hy ne mn bs kk sq sw gl mr pa si km sn yo so
  af oc ka be tg sd gu am yi lo uz fo ht ps tk nn mt sa lb my bo tl mg as tt haw ln ha ba jw su yue
`
  .trim()
  .split(/\s+/) as [string, ...string[]] // it is not empty

const option = () => flag().nullish()
const words = () => text(0, 10_000).nullish()

type Issue = { readonly code?: string | undefined; readonly keys?: readonly string[]; readonly input?: unknown }

const strictly = {
  error: ({ code, keys, input }: Issue) => {
    if (code === 'unrecognized_keys') return `must not have the member ${keys?.join(', ')}`
    return input === undefined || input === null ? 'is required' : 'must be an object'
  },
}

/** What a `transcribe` job is asked for; unknown members are refused (platform reference, section 8.2). */
const transcribeInputSchema = z.strictObject(
  {
    url: webUrl(),
    multichannel: option(),
    diarization: option(),
    sentence_diarization: option(),
    language_code: oneOf(languageCodes).nullish(),
    return_as_file: option(),
    sentence_level_timestamps: option(),
    word_level_timestamps: option(),
    overall_classification: option(),
    overall_sentiment_analysis: option(),
    enhanced_accuracy: option(),
    srt: option(),
    translate: oneOf(['to_eng']).nullish(),
    summarize: integer(0, 2 ** 31 - 1).nullish(),
    llm_translation: words(),
    srt_translation: words(),
    custom_prompt: words(),
    custom_vocabulary: words(),
    classification_labels: words(),
    audio_stream_index: integer(0, 2 ** 31 - 1).nullish(),
  },
  strictly,
)

/** The body of a `transcribe` job. */
export const transcribeBodySchema = z.strictObject({ input: transcribeInputSchema, ...jobRequestFields }, strictly)
