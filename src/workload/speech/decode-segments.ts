import type { DecodedWindow } from './decode-window.ts'
import type { SpecialTokens } from './tokens-special.ts'

/** A stretch of a window that its times close. */
export interface WindowSegment {
  /** Text only. */
  readonly tokens: readonly number[]
  readonly probabilities: readonly number[]
  /** The place of the first token among those of the window. */
  readonly at: number
  /** Ticks from the beginning of the window. */
  readonly start: number
  readonly end: number
}

/** A window taken apart. */
export interface WindowParts {
  readonly segments: readonly WindowSegment[]
  /** Ticks after which the next window begins. */
  readonly advance: number
}

/** A text that nothing closes is heard again from its start if that is later than this part of the window. */
const LATE = 1 / 8

/**
 * Takes a window of `length` ticks apart at its times. Where something is still said at its end, the next window begins
 * before that, so that nothing is heard in two halves (Radford et al., 2022, section 3.8).
 */
export function splitWindow(window: DecodedWindow, special: SpecialTokens, length: number): WindowParts {
  const { tokens } = window
  const isTime = (i: number): boolean => i >= 0 && i < tokens.length && tokens[i]! >= special.firstTime
  const tickAt = (i: number): number => Math.min(tokens[i]! - special.firstTime, length)
  const bounds = tokens.flatMap((_, i) => (isTime(i) && isTime(i - 1) ? [i] : []))
  const whole = [0, ...bounds].slice(0, -1).flatMap((from, i) => {
    const to = bounds[i]!
    return segmentOf(window, special, from, to, tickAt(from), tickAt(to - 1))
  })
  const from = bounds.at(-1) ?? 0
  const last = tokens.length - 1
  if (from > 0 && !(isTime(last) && !isTime(last - 1))) return { segments: whole, advance: tickAt(from - 1) }

  const start = isTime(from) ? tickAt(from) : 0
  const closed = last > from && isTime(last)
  if (!closed && start > length * LATE) return { segments: whole, advance: start }
  const rest = segmentOf(window, special, from, tokens.length, start, closed ? tickAt(last) : length)
  return { segments: [...whole, ...rest], advance: length }
}

/** The text between two places, if there is any and it takes time. */
function segmentOf(
  { tokens, probabilities }: DecodedWindow,
  { end: endToken }: SpecialTokens,
  from: number,
  to: number,
  start: number,
  end: number,
): readonly WindowSegment[] {
  const places = tokens.flatMap((token, i) => (i >= from && i < to && token < endToken ? [i] : []))
  if (places.length === 0 || end <= start) return []
  const [at] = places as [number]
  const ofPlaces = (values: readonly number[]): readonly number[] => places.map((i) => values[i]!)
  return [{ tokens: ofPlaces(tokens), probabilities: ofPlaces(probabilities), at, start, end }]
}
