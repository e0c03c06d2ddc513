import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { messageOf, WorkloadError } from '../base/errors.ts'
import { FRAME, HOP, SAMPLE_RATE } from './log-mel.ts'
import type { WhisperFiles } from './whisper-files.ts'

const ids = z.array(z.number().int()).nullish()

/** Of config.json, what the graphs do not tell themselves. */
const modelSchema = z.object({
  model_type: z.literal('whisper'),
  num_mel_bins: z.number().int().positive().default(80),
  vocab_size: z.number().int().positive(),
  max_source_positions: z.number().int().positive().default(1500),
  max_target_positions: z.number().int().positive().default(448),
  decoder_layers: z.number().int().positive(),
  decoder_attention_heads: z.number().int().positive(),
  d_model: z.number().int().positive(),
  eos_token_id: z.number().int().nullish(),
  decoder_start_token_id: z.number().int().nullish(),
  suppress_tokens: ids,
  begin_suppress_tokens: ids,
})

/** Of generation_config.json, how the model wants its tokens chosen; older exports have none of it. */
const generationSchema = z.object({
  suppress_tokens: ids,
  begin_suppress_tokens: ids,
  eos_token_id: z.union([z.number().int(), z.array(z.number().int()).transform(([first]) => first)]).nullish(),
  decoder_start_token_id: z.number().int().nullish(),
  no_timestamps_token_id: z.number().int().nullish(),
  prev_sot_token_id: z.number().int().nullish(),
  max_initial_timestamp_index: z.number().int().nullish(),
  is_multilingual: z.boolean().nullish(),
  lang_to_id: z.record(z.string(), z.number().int()).nullish(),
  task_to_id: z.record(z.string(), z.number().int()).nullish(),
  alignment_heads: z.array(z.tuple([z.number().int(), z.number().int()])).nullish(),
})

/** Of preprocessor_config.json, what the spectrogram must be like. */
const preprocessorSchema = z.object({
  feature_size: z.number().int().positive().nullish(),
  sampling_rate: z.literal(SAMPLE_RATE).default(SAMPLE_RATE),
  n_fft: z.literal(FRAME).default(FRAME),
  hop_length: z.literal(HOP).default(HOP),
})

/** What a model's settings say. */
export interface WhisperConfig {
  /** Pitches of the spectrogram. */
  readonly mels: number
  /** Frames of the spectrogram that the encoder takes at once; two become one place of its output. */
  readonly frames: number
  readonly vocabularySize: number
  /** Tokens that the decoder can look back at, with what it is told. */
  readonly context: number
  readonly layers: number
  readonly heads: number
  /** Values of a head. */
  readonly headSize: number
  readonly generation: z.infer<typeof generationSchema>
}

/** Reads the settings of a model. Throws `model-unsupported` when they are not a Whisper's, or of no kind known here. */
export async function readWhisperConfig(files: WhisperFiles): Promise<WhisperConfig> {
  const model = await parse(files.config, modelSchema)
  const generation = files.generation ? await parse(files.generation, generationSchema) : generationSchema.parse({})
  const preprocessor = files.preprocessor ? await parse(files.preprocessor, preprocessorSchema) : undefined
  return {
    mels: preprocessor?.feature_size ?? model.num_mel_bins,
    frames: 2 * model.max_source_positions,
    vocabularySize: model.vocab_size,
    context: model.max_target_positions,
    layers: model.decoder_layers,
    heads: model.decoder_attention_heads,
    headSize: model.d_model / model.decoder_attention_heads,
    generation: {
      ...generation,
      suppress_tokens: generation.suppress_tokens ?? model.suppress_tokens,
      begin_suppress_tokens: generation.begin_suppress_tokens ?? model.begin_suppress_tokens,
      eos_token_id: generation.eos_token_id ?? model.eos_token_id,
      decoder_start_token_id: generation.decoder_start_token_id ?? model.decoder_start_token_id,
    },
  }
}

async function parse<T>(path: string, schema: z.ZodType<T>): Promise<T> {
  try {
    return schema.parse(JSON.parse(await readFile(path, 'utf8')))
  } catch (cause) {
    throw new WorkloadError('model-unsupported', `${path} is not the settings of a Whisper: ${messageOf(cause)}`, {
      cause,
    })
  }
}
