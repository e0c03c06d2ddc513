import { z } from 'zod'
import { languageCodes } from './platform/transcription.ts'

const asked = () => z.boolean().nullish()

/**
 * The body of `POST /transcribe`: the input of a job (platform reference, sections 8.2 and 8.3). What this server does not
 * know is passed over, for jobs of the free-form endpoint are not checked before.
 */
export const transcriptionRequestSchema = z.looseObject({
  url: z.string().nullish().meta({ description: 'An http or https URL of a file with audio in it.' }),
  language_code: z
    .enum(languageCodes)
    .nullish()
    .meta({ description: 'The language that is spoken; detected without it.' }),
  translate: z.literal('to_eng').nullish().meta({ description: 'Everything is written in English.' }),
  multichannel: asked().meta({
    description: 'Each channel is one speaker; counts only with `diarization` or `sentence_diarization`.',
  }),
  diarization: asked(),
  sentence_diarization: asked(),
  sentence_level_timestamps: asked(),
  word_level_timestamps: asked(),
  srt: asked(),
  audio_stream_index: z.int().min(0).nullish(),
})

const seconds = () => z.number().min(0).meta({ description: 'Seconds.' })

const placed = {
  start: seconds(),
  end: seconds(),
  timestamp: z.array(z.number()).length(2).meta({ description: '`start` and `end`.' }),
  score: z.number().optional().meta({ description: 'The mean probability of its tokens.' }),
  speaker: z.string().optional().meta({ description: 'One speaker a channel.', example: 'SPEAKER_00' }),
  channel: z.int().optional().meta({ description: 'From 0.' }),
}

const timedSentenceSchema = z.object({ text: z.string(), ...placed })
const timedWordSchema = z.object({ word: z.string(), ...placed })

/** What a transcription says (platform reference, section 8.3). */
export const transcriptionSchema = z.object({
  text: z.string(),
  duration: z.number().meta({ description: 'Hours of audio, with two decimals.' }),
  duration_in_seconds: seconds(),
  processing_time: seconds(),
  sentence_level_timestamps: z.array(timedSentenceSchema).optional(),
  word_segments: z.array(timedWordSchema).optional(),
  srt_content: z.string().optional(),
})

/** What is said of media that cannot be used, which is no fault of the request (platform reference, section 8.3). */
export const unusableMediaSchema = z.object({ error: z.string(), duration: z.literal(0) })

export type TranscriptionRequest = z.infer<typeof transcriptionRequestSchema>
export type TimedSentence = z.infer<typeof timedSentenceSchema>
export type TimedWord = z.infer<typeof timedWordSchema>
export type Transcription = z.infer<typeof transcriptionSchema>
export type UnusableMedia = z.infer<typeof unusableMediaSchema>
