import type { Transcription, TranscriptionRequest } from '../../contracts/transcription.ts'
import { WorkloadError } from '../base/errors.ts'
import type { SpeechModel } from './speech-model.ts'
import { type HeardChannel, transcriptionOf } from './transcription-of.ts'

/** The longest audio (platform reference, section 26). */
const MOST_SECONDS = 2.5 * 3600
/** Each is as much work as a file of its own. */
const MOST_CHANNELS = 8
const RATE = 16_000

export interface WriteDownDeps {
  /** The model, which is opened when it is first needed. */
  model(): Promise<SpeechModel>
  /** 16 kHz samples of one channel of a file, or of the mean of all. */
  decode(
    path: string,
    options: { readonly channel: number | 'all'; readonly maxSeconds: number; readonly signal: AbortSignal },
  ): Promise<{ readonly samples: Float32Array; readonly channels: number }>
  /** Milliseconds. */
  now(): number
}

/** What a file on the disk is to be made into. */
export interface WriteDownJob {
  readonly path: string
  readonly request: TranscriptionRequest
}

/** Writes down what is said in a file. Channels that are told apart are decoded and heard one after the other. */
export function createWriteDown({ model, decode, now }: WriteDownDeps) {
  return async ({ path, request }: WriteDownJob, signal: AbortSignal): Promise<Transcription> => {
    const began = now()
    const apart = isSet(request.multichannel) && (isSet(request.diarization) || isSet(request.sentence_diarization))
    const decodeChannel = (channel: number | 'all') => decode(path, { channel, maxSeconds: MOST_SECONDS, signal })
    const { samples, channels } = await decodeChannel(apart ? 0 : 'all')
    if (apart && channels > MOST_CHANNELS)
      throw new WorkloadError(
        'media-unsupported',
        `the file has ${channels} channels, of which ${MOST_CHANNELS} can be told apart`,
      )
    const { transcribe } = await model()
    const hear = (of: Float32Array) =>
      transcribe(of, {
        language: request.language_code ?? undefined,
        task: request.translate ? 'translate' : 'transcribe',
        words: wantsWords(request),
        signal,
      })
    const heard: HeardChannel[] = []
    for (let channel = 0; channel < (apart ? channels : 1); channel++) {
      const own = channel === 0 ? samples : (await decodeChannel(channel)).samples
      heard.push({ transcript: await hear(own), channel: apart && channels > 1 ? channel : undefined })
    }
    return {
      ...transcriptionOf(heard, request, samples.length / RATE),
      processing_time: Math.round(now() - began) / 1000,
    }
  }
}

/** Sentences and captions are cut out of words. */
const wantsWords = (request: TranscriptionRequest): boolean =>
  isSet(request.word_level_timestamps) ||
  isSet(request.sentence_level_timestamps) ||
  isSet(request.srt) ||
  isSet(request.diarization) ||
  isSet(request.sentence_diarization)

const isSet = (flag: boolean | null | undefined): boolean => flag === true
