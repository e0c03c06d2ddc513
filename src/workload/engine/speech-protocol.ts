import type { Transcription, TranscriptionRequest } from '../../contracts/transcription.ts'
import type { Failure } from './protocol.ts'

/** An audio file of this disk and what is to be said of it. */
export interface SpeechJob {
  readonly path: string
  readonly request: TranscriptionRequest
}

/** Main process → speech process. It is given one job at a time. */
export type ToSpeech = { readonly kind: 'transcribe'; readonly job: SpeechJob } | { readonly kind: 'cancel' }

/** Speech process → main process; each is also a sign of life. */
export type FromSpeech =
  | { readonly kind: 'alive' }
  | { readonly kind: 'done'; readonly transcription: Transcription }
  | { readonly kind: 'failed'; readonly failure: Failure }
