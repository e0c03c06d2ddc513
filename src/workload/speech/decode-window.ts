import { deflateSync } from 'node:zlib'
import { type Choose, createChooser, probabilityOf } from './decode-choice.ts'
import type { DecodingRules } from './decode-rules.ts'
import { textOf, type Vocabulary } from './tokens.ts'
import type { SpecialTokens } from './tokens-special.ts'
import type { DecoderState, WhisperDecoder } from './whisper-decoder.ts'

/** Tried one after the other, until a text is believed (Radford et al., 2022, section 4.5, as are the bounds below). */
const TEMPERATURES = [0, 0.2, 0.4, 0.6, 0.8, 1]
/** A text that shrinks more repeats itself. */
const MOST_COMPRESSION = 2.4
/** A text whose tokens are less likely on average, as natural logarithms, is guesswork. */
const LEAST_LOG_PROBABILITY = -1
/** Guesswork is silence where its token is likelier than this. */
export const SILENCE = 0.6

/** What stands behind the decoding of a window. */
export interface DecodingParts {
  readonly decoder: WhisperDecoder
  readonly vocabulary: Vocabulary
  readonly special: SpecialTokens
  readonly rules: DecodingRules
  /** Tokens that are written in one window at most. */
  readonly limit: number
}

/** What was written of one window. */
export interface DecodedWindow {
  /** Text and times, without the token of the end. */
  readonly tokens: readonly number[]
  /** Of each token, 0 to 1. */
  readonly probabilities: readonly number[]
  /** Whether nobody speaks there, whatever the tokens say. */
  readonly silent: boolean
}

interface Attempt {
  readonly tokens: readonly number[]
  readonly logProbabilities: readonly number[]
  readonly mean: number
}

/**
 * Writes down a window from `started`, the decoder's state after a prompt that begins with the start token. Where the likeliest tokens make a text that repeats itself or is guesswork, others
 * are drawn by chance, the same ones for the same window every time.
 */
export async function decodeWindow(
  parts: DecodingParts,
  started: DecoderState,
  signal: AbortSignal,
): Promise<DecodedWindow> {
  const { special, vocabulary } = parts
  const noSpeech = probabilityOf(rowOf(started, 0), special.noSpeech)
  let last: Attempt | undefined
  for (const [seed, temperature] of TEMPERATURES.entries()) {
    last = await attempt(parts, started, createChooser(temperature, seed), signal)
    const unlikely = last.mean < LEAST_LOG_PROBABILITY
    const silent = unlikely && noSpeech > SILENCE
    const text = textOf(vocabulary, last.tokens)
    if (silent || !(unlikely || compressionOf(text) > MOST_COMPRESSION)) return { ...decoded(last), silent }
  }
  return { ...decoded(last!), silent: false } // the last and boldest, as there is no better one
}

async function attempt(
  { decoder, special, rules, limit }: DecodingParts,
  started: DecoderState,
  choose: Choose,
  signal: AbortSignal,
): Promise<Attempt> {
  const tokens: number[] = []
  const logProbabilities: number[] = []
  let state = started
  let sum = 0
  while (tokens.length < limit) {
    signal.throwIfAborted()
    const logits = rowOf(state, state.logits.dims[1]! - 1).slice()
    rules.apply(logits, tokens)
    const { token, logProbability } = choose(logits)
    sum += logProbability
    if (token === special.end) break
    tokens.push(token)
    logProbabilities.push(logProbability)
    if (tokens.length < limit) state = await decoder.next(state, token)
  }
  return { tokens, logProbabilities, mean: sum / (tokens.length + 1) }
}

function decoded({ tokens, logProbabilities }: Attempt): Omit<DecodedWindow, 'silent'> {
  return { tokens, probabilities: logProbabilities.map(Math.exp) }
}

/** What may follow the token at the place `at` of those that were fed last. */
export function rowOf({ logits }: DecoderState, at: number): Float32Array {
  const width = logits.dims[2]!
  return logits.data.subarray(at * width, (at + 1) * width)
}

function compressionOf(text: string): number {
  const bytes = Buffer.from(text)
  return bytes.length / deflateSync(bytes).length
}
