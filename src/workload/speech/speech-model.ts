/** A word as it was spoken. */
export interface SpokenWord {
  /** With the blank before it, where the language has blanks between words. */
  readonly word: string
  /** Seconds from the beginning of the samples. */
  readonly start: number
  readonly end: number
  /** The mean probability of its tokens. */
  readonly score: number
}

/** A stretch of speech that the model closed with a time. */
export interface SpokenSegment {
  /** As the model wrote it, usually with a blank in front. */
  readonly text: string
  /** Seconds from the beginning of the samples. */
  readonly start: number
  readonly end: number
  /** The mean probability of its tokens. */
  readonly score: number
  /** Only when words were asked for. */
  readonly words?: readonly SpokenWord[]
}

/** What was said. */
export interface Transcript {
  /** The code of the language that was spoken, such as `en`. */
  readonly language: string
  readonly segments: readonly SpokenSegment[]
}

/** What is wanted of the speech. */
export interface TranscribeOptions {
  /** The code of the language that is spoken, such as `en`; the model hears it in the first 30 seconds if it is left out. */
  readonly language?: string | undefined
  /** `translate` writes English whatever is spoken. */
  readonly task: 'transcribe' | 'translate'
  /** Whether each segment gets its words with their times. */
  readonly words: boolean
  /** Looked at between the steps of the decoder. */
  readonly signal: AbortSignal
  /** Told how much of the samples is done. */
  readonly onProgress?: ((secondsDone: number) => void) | undefined
}

/** A model that writes down what is said. */
export interface SpeechModel {
  /** The codes of the languages that it knows, such as `en`; one alone for a model that knows no others. */
  readonly languages: readonly string[]
  /**
   * `samples` are 16 kHz mono from -1 to 1, of any length. Throws `invalid-request` for a language that the model does
   * not know, and for a translation that it cannot make.
   */
  transcribe(samples: Float32Array, options: TranscribeOptions): Promise<Transcript>
  /** Gives its memory back. */
  close(): Promise<void>
}
