import { describe, expect, it } from 'vitest'
import type { TranscriptionRequest } from '../../../src/contracts/transcription.ts'
import type { SpeechModel, SpokenSegment, TranscribeOptions } from '../../../src/workload/speech/speech-model.ts'
import { createWriteDown } from '../../../src/workload/speech/write-down.ts'

/** Segments with a word a second, each from its start. */
const segment = (start: number, text: string): SpokenSegment => {
  const words = (text.match(/\s*\S+/g) ?? []).map((word, i) => ({
    word,
    start: start + i,
    end: start + i + 0.8,
    score: 0.5,
  }))
  return { text, start, end: words.at(-1)!.end, score: 0.5, words }
}

/** Writes down a file whose channels say these segments; the model tells what it was asked. */
async function writeDown(request: TranscriptionRequest, ...channels: readonly (readonly SpokenSegment[])[]) {
  const asked: Omit<TranscribeOptions, 'signal'>[] = []
  const decoded: (number | 'all')[] = []
  const model: SpeechModel = {
    languages: ['en'],
    async transcribe([channel], { signal: _signal, words, ...options }) {
      asked.push({ ...options, words })
      const segments = channels[channel!]!
      return { language: 'en', segments: words ? segments : segments.map(({ words: _words, ...plain }) => plain) }
    },
    close: async () => undefined,
  }
  let time = 0
  const write = createWriteDown({
    model: async () => model,
    async decode(_path, { channel }) {
      decoded.push(channel)
      const samples = new Float32Array(16_000 * 90)
      samples[0] = channel === 'all' ? 0 : channel
      return { samples, channels: channels.length }
    },
    now: () => (time += 1234),
  })
  const made = await write({ path: 'any', request }, new AbortController().signal)
  return { made, asked, decoded }
}

const talk = [segment(0, ' Hello there. How'), segment(3, ' are you?')]

describe('a transcription', () => {
  it('is the text and how long it took, and nothing that was not asked for', async () => {
    const { made, asked } = await writeDown({}, talk)
    expect(made).toEqual({
      text: 'Hello there. How are you?',
      duration: 0.03,
      duration_in_seconds: 90,
      processing_time: 1.234,
    })
    expect(asked).toEqual([{ language: undefined, task: 'transcribe', words: false }])
  })

  it('has sentences, words and captions with their times', async () => {
    const { made } = await writeDown(
      { sentence_level_timestamps: true, word_level_timestamps: true, srt: true, language_code: 'en' },
      talk,
    )
    expect(made.sentence_level_timestamps).toEqual([
      { text: 'Hello there.', start: 0, end: 1.8, timestamp: [0, 1.8], score: 0.5 },
      { text: 'How are you?', start: 2, end: 4.8, timestamp: [2, 4.8], score: 0.5 },
    ])
    expect(made.word_segments?.map(({ word, start }) => [word, start])).toEqual([
      ['Hello', 0],
      ['there.', 1],
      ['How', 2],
      ['are', 3],
      ['you?', 4],
    ])
    expect(made.srt_content).toBe(
      '1\n00:00:00,000 --> 00:00:01,800\nHello there.\n\n2\n00:00:02,000 --> 00:00:04,800\nHow are you?\n',
    )
  })

  it('is English where that is asked for', async () => {
    const { asked } = await writeDown({ translate: 'to_eng', language_code: 'de' }, talk)
    expect(asked).toEqual([{ language: 'de', task: 'translate', words: false }])
  })

  it('names no speakers where only voices could tell them apart', async () => {
    const { made, decoded } = await writeDown({ diarization: true, sentence_diarization: true }, talk, talk)
    expect(decoded).toEqual(['all'])
    expect(made.word_segments?.length).toBe(5)
    expect(made.sentence_level_timestamps?.length).toBe(2)
    expect(JSON.stringify(made)).not.toMatch(/speaker|channel/)
  })
})

describe('channels', () => {
  const left = [segment(0, ' Good morning.'), segment(6, ' I am left.')]
  const right = [segment(3, ' Good evening.')]

  it('are written down each alone and put together in the order of time, one speaker each', async () => {
    const { made, decoded } = await writeDown(
      { multichannel: true, sentence_diarization: true, diarization: true, srt: true },
      left,
      right,
    )
    expect(decoded).toEqual([0, 1])
    expect(made.text).toBe('Good morning. Good evening. I am left.')
    expect(made.sentence_level_timestamps?.map(({ text, speaker, channel }) => [text, speaker, channel])).toEqual([
      ['Good morning.', 'SPEAKER_00', 0],
      ['Good evening.', 'SPEAKER_01', 1],
      ['I am left.', 'SPEAKER_00', 0],
    ])
    expect(made.word_segments?.map(({ word, channel }) => `${word}${channel}`).join(' ')).toBe(
      'Good0 morning.0 Good1 evening.1 I0 am0 left.0',
    )
    expect(made.srt_content?.match(/^[A-Z].*$/gm)).toEqual(['Good morning.', 'Good evening.', 'I am left.'])
  })

  it('are one where the file has no more, or where no speakers were asked for', async () => {
    const one = await writeDown({ multichannel: true, sentence_diarization: true }, left)
    expect(JSON.stringify(one.made)).not.toMatch(/speaker|channel/)
    expect((await writeDown({ multichannel: true }, left, right)).decoded).toEqual(['all'])
  })

  it('are not told apart beyond eight', async () => {
    const nine = Array.from({ length: 9 }, () => left)
    await expect(writeDown({ multichannel: true, diarization: true }, ...nine)).rejects.toThrow(/9 channels/)
  })
})
