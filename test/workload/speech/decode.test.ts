import { describe, expect, it } from 'vitest'
import { createDecodingRules } from '../../../src/workload/speech/decode-rules.ts'
import { splitWindow } from '../../../src/workload/speech/decode-segments.ts'
import { decodeWindow } from '../../../src/workload/speech/decode-window.ts'
import { settingsOf, tinySpecial, toyWhisper } from '../../support/toy-whisper.ts'
import { whisperGoldens } from '../../support/whisper-goldens.ts'

const { firstTime, end } = tinySpecial
const at = (tick: number): number => firstTime + tick

describe('the rules of times', () => {
  it.each(whisperGoldens.rules)('leave after $written what transformers leaves', ({ written, number, left }) => {
    const logits = Float32Array.from(
      { length: 576 },
      (_, i) => 3 * Math.sin(0.7 * i * i + number) + (i >= firstTime ? (number % 2 ? -3 : -9) : 0),
    )
    const wanted = Array.from(logits, (_, i) => left.some(([from, to]) => i >= from && i < to))
    createDecodingRules(tinySpecial, settingsOf({ max_initial_timestamp_index: 50 })).apply(logits, written)
    // Languages and other commands are never written here, not even where transformers would.
    const allowed = wanted.map((choice, i) => choice && (i <= end || i >= firstTime))
    expect(Array.from(logits, (logit) => logit > -Infinity)).toEqual(allowed)
  })

  it('leave out what the model never writes, and what it never begins with', () => {
    const rules = createDecodingRules(
      tinySpecial,
      settingsOf({ suppress_tokens: [7], begin_suppress_tokens: [at(0), 8] }),
    )
    const first = new Float32Array(576)
    rules.apply(first, [])
    expect(first[at(0)]).toBe(-Infinity)
    expect(first[at(1)]).toBe(0)
    const second = new Float32Array(576)
    rules.apply(second, [at(1)])
    expect([second[6], second[7], second[8]]).toEqual([0, -Infinity, 0])
  })
})

describe('a window', () => {
  const split = (...tokens: readonly number[]) => {
    const { segments, advance } = splitWindow(
      { tokens, probabilities: tokens.map(() => 1), silent: false },
      tinySpecial,
      300,
    )
    return { advance, segments: segments.map(({ start, end, tokens, at }) => [start, end, tokens, at]) }
  }

  it('is one segment when its times close one', () => {
    expect(split(at(10), 1, 2, at(90))).toEqual({ advance: 300, segments: [[10, 90, [1, 2], 1]] })
  })

  it('is as many segments as its times close, of which an open one is heard again', () => {
    expect(split(at(0), 1, at(50), at(60), 2, at(90), at(95), 3)).toEqual({
      advance: 90,
      segments: [
        [0, 50, [1], 1],
        [60, 90, [2], 4],
      ],
    })
    expect(split(at(0), 1, at(50), at(60))).toEqual({ advance: 50, segments: [[0, 50, [1], 1]] })
  })

  it('is done when its last segment is closed', () => {
    expect(split(at(0), 1, at(50), at(60), 2, at(90))).toMatchObject({ advance: 300, segments: [{}, [60, 90, [2], 4]] })
  })

  it('goes on to its end when nothing closes its text, but is heard again from where that begins late', () => {
    expect(split(at(10), 1, 2)).toEqual({ advance: 300, segments: [[10, 300, [1, 2], 1]] })
    expect(split(at(200), 1, 2)).toEqual({ advance: 200, segments: [] })
  })

  it('without text is no segment', () => {
    expect(split(at(0))).toEqual({ advance: 300, segments: [] })
    expect(split(at(0), at(40))).toMatchObject({ segments: [] })
    expect(split()).toEqual({ advance: 300, segments: [] })
  })

  it('has no times behind the end of the samples', () => {
    expect(split(at(290), 1, at(310))).toMatchObject({ segments: [[290, 300, [1], 1]] })
  })
})

describe('the choice of tokens', () => {
  const { signal } = new AbortController()
  const likes = (token: number, more = 8) => new Float32Array(576).map((_, i) => (i === token ? more : 0))

  it('takes the likeliest, and tells how likely it was', async () => {
    const parts = toyWhisper(([, ...written]) => likes([at(0), 5, at(20)][written.length] ?? end, 20))
    const window = await decodeWindow(parts, await parts.begin(), signal)
    expect(window.tokens).toEqual([at(0), 5, at(20)])
    expect(window.probabilities.every((probability) => probability > 0.99 && probability <= 1)).toBe(true)
    expect(window.silent).toBe(false)
  })

  it('draws others when a text repeats itself, the same ones every time', async () => {
    const parts = toyWhisper(([, ...written]) => likes(written.length === 0 ? at(0) : 5, 7))
    const first = await decodeWindow(parts, await parts.begin(), signal)
    expect(new Set(first.tokens).size).toBeGreaterThan(2)
    expect(await decodeWindow(parts, await parts.begin(), signal)).toEqual(first)
  })

  it('is silence where the tokens are guesswork and the model hears nobody', async () => {
    const unsure = (tokens: readonly number[]) =>
      tokens.length === 1 ? likes(tinySpecial.noSpeech, 20).map((v, i) => (i === at(0) ? 1 : v)) : new Float32Array(576)
    const parts = toyWhisper(unsure)
    expect((await decodeWindow(parts, await parts.begin(), signal)).silent).toBe(true)
  })

  it('stops when it is aborted', async () => {
    const controller = new AbortController()
    const reason = new Error('no longer wanted')
    const parts = toyWhisper((tokens) => {
      if (tokens.length === 5) controller.abort(reason)
      return likes(tokens.length === 1 ? at(0) : 5)
    })
    await expect(decodeWindow(parts, await parts.begin(), controller.signal)).rejects.toBe(reason)
  })
})
