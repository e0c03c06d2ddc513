import type { SpecialTokens } from './tokens-special.ts'
import type { WhisperConfig } from './whisper-config.ts'

/** The latest time a window may begin with, in ticks, unless the model says another. */
const LATEST_BEGINNING = 50

/**
 * What may not be written next: `apply` takes it out of `logits` by putting -Infinity there. `written` are the tokens
 * since the prompt, without it.
 */
export interface DecodingRules {
  apply(logits: Float32Array, written: readonly number[]): void
}

/**
 * The rules of Whisper for text with times (its published code, `decoding.py`): times come in pairs but at the very
 * end, never fall, and the first is early; and where all times together are likelier than any one text token, a time
 * it is.
 */
export function createDecodingRules(special: SpecialTokens, { generation }: WhisperConfig): DecodingRules {
  const { end, firstTime } = special
  const never = generation.suppress_tokens ?? []
  const neverFirst = generation.begin_suppress_tokens ?? []
  const latest = firstTime + (generation.max_initial_timestamp_index ?? LATEST_BEGINNING)
  return {
    apply(logits, written) {
      const forbid = (from: number, to: number): unknown => logits.fill(-Infinity, from, to)
      for (const token of never) forbid(token, token + 1)
      forbid(end + 1, firstTime)
      if (written.length === 0) {
        for (const token of neverFirst) forbid(token, token + 1)
        forbid(0, firstTime)
        forbid(latest + 1, logits.length)
        return
      }
      const isTime = (token: number | undefined): boolean => token === undefined || token >= firstTime
      const lastIsTime = isTime(written.at(-1))
      const pairIsWhole = isTime(written.at(-2))
      if (lastIsTime && pairIsWhole) forbid(firstTime, logits.length)
      else if (lastIsTime) forbid(0, end)
      const time = written.findLast((token) => token >= firstTime)
      // The next segment may begin where one ended; nothing may end where it began.
      if (time !== undefined) forbid(firstTime, lastIsTime && !pairIsWhole ? time : time + 1)
      if (timesWin(logits, firstTime)) forbid(0, firstTime)
    },
  }
}

function timesWin(logits: Float32Array, firstTime: number): boolean {
  const most = highest(logits.subarray(firstTime))
  if (most === -Infinity) return false
  let sum = 0
  for (let i = firstTime; i < logits.length; i++) sum += Math.exp(logits[i]! - most)
  return most + Math.log(sum) > highest(logits.subarray(0, firstTime))
}

function highest(values: Float32Array): number {
  return values.reduce((most, value) => Math.max(most, value), -Infinity)
}
