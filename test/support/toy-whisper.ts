import { createDecodingRules } from '../../src/workload/speech/decode-rules.ts'
import type { DecodingParts } from '../../src/workload/speech/decode-window.ts'
import type { SpecialTokens } from '../../src/workload/speech/tokens-special.ts'
import type { WhisperConfig } from '../../src/workload/speech/whisper-config.ts'
import type { DecoderState } from '../../src/workload/speech/whisper-decoder.ts'
import { tensor } from '../../src/workload/tensor/tensor.ts'

/** The special tokens of test/fixtures/whisper-tiny. */
export const tinySpecial: SpecialTokens = {
  end: 264,
  start: 265,
  translate: 269,
  transcribe: 270,
  noSpeech: 273,
  noTimes: 274,
  firstTime: 275,
  languages: new Map([['en', 266]]),
}

/** Settings of a model of 576 tokens that wants them chosen like this. */
export function settingsOf(generation: Partial<WhisperConfig['generation']> = {}): WhisperConfig {
  return { mels: 80, frames: 600, vocabularySize: 576, context: 96, layers: 2, heads: 2, headSize: 24, generation }
}

type Logits = (tokens: readonly number[]) => Float32Array

/** A decoder that is a function of the tokens since the start, and hears nothing; its tokens are letters. */
export function toyWhisper(logits: Logits): DecodingParts & { begin(): Promise<DecoderState> } {
  const histories = new WeakMap<DecoderState, readonly number[]>()
  const stateOf = (tokens: readonly number[]): DecoderState => {
    const values = logits(tokens)
    const state = { logits: tensor([1, 1, values.length], values) }
    histories.set(state, tokens)
    return state
  }
  return {
    decoder: {
      start: async (_encoded, prompt) => stateOf(prompt),
      next: async (state, token) => stateOf([...histories.get(state)!, token]),
      attentions: undefined,
    },
    vocabulary: { bytesOf: (token) => Uint8Array.of(97 + (token % 26)), special: new Map() },
    special: tinySpecial,
    rules: createDecodingRules(tinySpecial, settingsOf()),
    limit: 48,
    begin: async () => stateOf([tinySpecial.start]),
  }
}
