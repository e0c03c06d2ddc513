import type { Held } from '../runtime/exported-graph.ts'
import type { Tensor } from '../tensor/tensor.ts'
import { alignmentCosts } from './align-attention.ts'
import { cheapestPath } from './align-path.ts'
import { type TokenWord, timesByLength, wordsOf } from './align-words.ts'
import type { WindowSegment } from './decode-segments.ts'
import type { DecodedWindow } from './decode-window.ts'
import type { SpokenSegment, SpokenWord } from './speech-model.ts'
import { textOf } from './tokens.ts'
import { TICK } from './tokens-special.ts'
import type { WhisperConfig } from './whisper-config.ts'
import type { WhisperParts } from './whisper-model.ts'

/** A window of speech that was written down. */
export interface HeardWindow {
  readonly encoded: Held
  readonly prompt: readonly number[]
  readonly window: DecodedWindow
  readonly language: string
  /** Seconds from the beginning of the samples. */
  readonly from: number
}

/** Turns the segments of a window into text and seconds. */
export function createSpeaker(
  parts: WhisperParts,
  heard: HeardWindow,
): (segments: readonly WindowSegment[], words: boolean) => Promise<readonly SpokenSegment[]> {
  const { vocabulary } = parts
  const secondsAt = (tick: number): number => Math.round((heard.from + tick * TICK) * 1000) / 1000
  return async (segments, words) => {
    const attentions = words && segments.length > 0 ? await attentionsOf(parts, heard) : undefined
    return segments.flatMap((segment) => {
      const text = textOf(vocabulary, segment.tokens)
      if (text.trim() === '') return []
      const spoken = {
        text,
        start: secondsAt(segment.start),
        end: secondsAt(segment.end),
        score: mean(segment.probabilities),
      }
      if (!words) return [spoken]
      const pieces = wordsOf(vocabulary, segment.tokens, heard.language)
      const times = attentions
        ? timesByAttention(parts, attentions, heard.prompt.length, segment, pieces)
        : timesByLength(pieces, segment.start, segment.end)
      return [{ ...spoken, words: pieces.map((piece, i) => wordOf(piece, times[i]!, segment, secondsAt)) }]
    })
  }
}

function wordOf(
  { word, from, to }: TokenWord,
  [begin, end]: readonly [number, number],
  { probabilities }: WindowSegment,
  secondsAt: (tick: number) => number,
): SpokenWord {
  return { word, start: secondsAt(begin), end: secondsAt(end), score: mean(probabilities.slice(from, to)) }
}

/** Where the heads that follow the speech looked from each token on, if the export tells that. */
async function attentionsOf(
  { decoder, special, config }: WhisperParts,
  { encoded, prompt, window }: HeardWindow,
): Promise<ReadonlyMap<number, Tensor> | undefined> {
  const layers = [...new Set(alignmentHeads(config).map(([layer]) => layer))]
  return decoder.attentions?.(encoded, [...prompt, ...window.tokens, special.end], layers)
}

/**
 * Ticks of words by what the decoder listened to when it wrote their tokens, which is told by the row of the token
 * before each. The path begins with the first token that is no blank, and ends at what came after the text, so that the
 * last word has an end.
 */
function timesByAttention(
  { config }: WhisperParts,
  attentions: ReadonlyMap<number, Tensor>,
  promptLength: number,
  { at, tokens, start, end }: WindowSegment,
  words: readonly TokenWord[],
): readonly (readonly [number, number])[] {
  const first = words[0]?.spoken ?? 0
  const row = promptLength + at - 1
  const costs = alignmentCosts(attentions, {
    heads: alignmentHeads(config),
    rows: [row + first, row + tokens.length + 1],
    places: [start, end],
  })
  const begins = cheapestPath(costs)
  return words.map(({ spoken, to }) => [start + begins[spoken - first]!, start + begins[to - first]!])
}

/** Heads that follow the speech; all of the later half of the layers where nobody found out which ones do. */
function alignmentHeads({ generation, layers, heads }: WhisperConfig): readonly (readonly [number, number])[] {
  const half = Math.floor(layers / 2)
  const later = Array.from(
    { length: (layers - half) * heads },
    (_, i) => [half + Math.floor(i / heads), i % heads] as const,
  )
  return generation.alignment_heads?.length ? generation.alignment_heads : later
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
