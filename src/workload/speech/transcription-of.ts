import type { TimedSentence, TimedWord, Transcription, TranscriptionRequest } from '../../contracts/transcription.ts'
import { captionsOf, subRip } from './captions.ts'
import { joined, sentencesOf, type TimedText, wordsOf } from './sentences.ts'
import type { Transcript } from './speech-model.ts'

/** What was said in a file, or in one of its channels where they are told apart. */
export interface HeardChannel {
  readonly transcript: Transcript
  readonly channel: number | undefined
}

/**
 * What the platform's users read (platform reference, section 8.3): of channels that are told apart, everything in the order
 * of time. A channel is taken for one speaker; nothing here tells voices apart, so that other entries name none.
 */
export function transcriptionOf(
  heard: readonly HeardChannel[],
  request: TranscriptionRequest,
  seconds: number,
): Omit<Transcription, 'processing_time'> {
  const channels = heard.map(({ transcript: { segments, language }, channel }) => ({
    words: segments.flatMap(wordsOf),
    language: request.translate ? 'en' : language,
    channel,
  }))
  const sentences = inOrder(
    channels.flatMap(({ words, language, channel }) =>
      sentencesOf(words, language).map((sentence) => ({ ...joined(sentence), channel })),
    ),
  )
  const [only] = heard
  const { diarization, sentence_diarization, word_level_timestamps, sentence_level_timestamps, srt } = request
  return {
    text: (heard.length === 1
      ? only!.transcript.segments.map(({ text }) => text).join('')
      : sentences.map(({ word }) => word).join(' ')
    ).trim(),
    duration: Math.round(seconds / 36) / 100,
    duration_in_seconds: rounded(seconds),
    ...((sentence_level_timestamps || sentence_diarization) && {
      sentence_level_timestamps: sentences.map(({ word, ...at }) => entry({ text: word }, at, sentence_diarization)),
    }),
    ...((word_level_timestamps || diarization) && {
      word_segments: inOrder(channels.flatMap(({ words, channel }) => words.map((word) => ({ ...word, channel })))).map(
        ({ word, ...at }): TimedWord => entry({ word: word.trim() }, at, diarization),
      ),
    }),
    ...(srt && {
      srt_content: subRip(inOrder(channels.flatMap(({ words, language }) => captionsOf(words, language)))),
    }),
  }
}

type Place = Omit<TimedText, 'word'> & { readonly channel: number | undefined }

function entry<Said extends { text: string } | { word: string }>(
  said: Said,
  { start: from, end: until, score, channel }: Place,
  labelled: boolean | null | undefined,
): Said & Omit<TimedSentence, 'text'> {
  const [start, end] = [rounded(from), rounded(until)]
  return {
    ...said,
    start,
    end,
    timestamp: [start, end],
    score: rounded(score),
    ...(labelled && channel !== undefined && { speaker: `SPEAKER_${String(channel).padStart(2, '0')}`, channel }),
  }
}

const inOrder = <Timed extends { readonly start: number }>(all: readonly Timed[]): readonly Timed[] =>
  all.toSorted((a, b) => a.start - b.start)

/** Milliseconds are all that the model can know. */
const rounded = (value: number): number => Math.round(value * 1000) / 1000
