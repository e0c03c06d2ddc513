import { cp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { TranscribeOptions } from '../../../src/workload/speech/speech-model.ts'
import { readVocabulary, textOf } from '../../../src/workload/speech/tokens.ts'
import type { WhisperFiles } from '../../../src/workload/speech/whisper-files.ts'
import { emptyFolder } from '../../support/folder.ts'
import { openWhisper, sharedWhisper, tinyWhisper, toneSpeech } from '../../support/speech.ts'
import { whisperGoldens } from '../../support/whisper-goldens.ts'

const plain: TranscribeOptions = { task: 'transcribe', words: false, signal: new AbortController().signal }

/** A copy of the tiny model for one test, without some of its files. */
async function copyWithout(...names: readonly string[]): Promise<string> {
  const folder = await emptyFolder()
  await cp(tinyWhisper, folder, { recursive: true })
  for (const name of names) await rm(join(folder, name))
  return folder
}

/** What a test changes in a file of a copy. */
async function rewrite(folder: string, name: string, change: (bytes: Buffer) => Buffer): Promise<void> {
  const path = join(folder, name)
  await writeFile(path, change(await readFile(path)))
}

const layouts: readonly (readonly [layout: string, missing: readonly string[]])[] = [
  ['one decoder that is both, with a past and without', ['decoder_model.onnx', 'decoder_with_past_model.onnx']],
  ['a decoder and another with a past', ['decoder_model_merged.onnx']],
  ['a decoder that knows no past', ['decoder_model_merged.onnx', 'decoder_with_past_model.onnx']],
]

describe('a Whisper', () => {
  const tiny = sharedWhisper()

  it.each(layouts)('of %s hears what transformers hears', async (_, missing) => {
    const vocabulary = await readVocabulary({ tokenizer: join(tinyWhisper, 'tokenizer.json') } as WhisperFiles) // reads only this
    const model = await openWhisper(await copyWithout(...missing))
    const heard = whisperGoldens.heard.slice(0, missing.includes('decoder_model.onnx') ? undefined : 2)
    for (const { text, language, task, detected, segments } of heard) {
      const transcript = await model.transcribe(toneSpeech(text, language), { ...plain, task })
      expect(transcript.language).toBe(detected)
      expect(transcript.segments.map((segment) => [segment.text, segment.end])).toEqual(
        segments.map(({ tokens, end }) => [textOf(vocabulary, tokens), end]),
      )
      for (const { score } of transcript.segments) expect(score).toBeGreaterThan(0.9)
    }
  })

  it('tells when each segment begins and ends, window after window', async () => {
    const { segments } = await tiny().transcribe(toneSpeech('   one.     two and three.           four?   five'), plain)
    expect(segments.map(({ text, start, end }) => [text.trim(), start, end])).toEqual([
      ['one.', 0.6, 1.4],
      ['two and three.', 2.4, 5.2],
      ['four?', 7.4, 8.4],
      ['five', 9, 9.8],
    ])
  })

  it.each(['attention', 'length'])('tells when each word is spoken, by %s', async (way) => {
    const folder = await copyWithout()
    const hide = (bytes: Buffer) => Buffer.from(bytes.toString('latin1').replaceAll('cross_att', 'cross_axx'), 'latin1')
    if (way === 'length') await rewrite(folder, 'decoder_model_merged.onnx', hide)
    const { segments } = await (await openWhisper(folder)).transcribe(toneSpeech('     der schöne tag!', 'de'), {
      ...plain,
      words: true,
    })
    const words = segments.flatMap(({ words = [] }) => words)
    expect(words.map(({ word }) => word)).toEqual([' der', ' schöne', ' tag!'])
    const spoken = [1, 1.6, 1.8, 3.2, 3.4, 4.2]
    const times = words.flatMap(({ start, end }) => [start, end])
    const off = Math.max(...times.map((time, i) => Math.abs(time - spoken[i]!)))
    expect(off).toBeLessThan(way === 'attention' ? 0.15 : 0.5)
    for (const { score } of words) expect(score).toBeGreaterThan(0.9)
  })

  it('takes the language that it is told', async () => {
    const model = tiny()
    expect(model.languages.toSorted()).toEqual(['de', 'en', 'fr'])
    const samples = toneSpeech('guten tag', 'de')
    expect((await model.transcribe(samples, { ...plain, language: 'fr' })).language).toBe('fr')
    await expect(model.transcribe(samples, { ...plain, language: 'tlh' })).rejects.toMatchObject({
      code: 'invalid-request',
      message: expect.stringContaining('tlh'),
    })
  })

  it('hears the language where somebody speaks', async () => {
    const model = tiny()
    const speech = toneSpeech('bonjour', 'fr')
    const late = new Float32Array(6 * 16_000 + speech.length)
    late.set(speech, 6 * 16_000)
    expect(await model.transcribe(late, plain)).toMatchObject({ language: 'fr', segments: [{ text: ' bonjour' }] })
  })

  it('hears nothing in silence and in nothing', async () => {
    const model = tiny()
    for (const samples of [new Float32Array(8 * 16_000), new Float32Array(0), Float32Array.of(0.5)])
      expect((await model.transcribe(samples, plain)).segments).toEqual([])
  })

  it('tells how far it is, and stops when it is aborted', async () => {
    const model = tiny()
    const controller = new AbortController()
    const reason = new Error('no longer wanted')
    const told: number[] = []
    const samples = toneSpeech('one.       two.       three.       four.       five.')
    const onProgress = (seconds: number) => {
      told.push(seconds)
    }
    await model.transcribe(samples, { ...plain, onProgress })
    expect(told.length).toBeGreaterThan(1)
    expect(told).toEqual(told.toSorted((a, b) => a - b))
    expect(told.at(-1)).toBe(samples.length / 16_000)

    told.length = 0
    const stopped = model.transcribe(samples, {
      ...plain,
      signal: controller.signal,
      onProgress: (seconds) => {
        told.push(seconds)
        controller.abort(reason)
      },
    })
    await expect(stopped).rejects.toBe(reason)
    expect(told).toHaveLength(1)
  })

  it('that knows English alone is asked for nothing else', async () => {
    const folder = await copyWithout()
    const english = (bytes: Buffer) =>
      Buffer.from(JSON.stringify({ ...JSON.parse(`${bytes}`), is_multilingual: false }))
    await rewrite(folder, 'generation_config.json', english)
    const model = await openWhisper(folder)
    expect(model.languages).toEqual(['en'])
    await expect(model.transcribe(toneSpeech('a'), { ...plain, task: 'translate' })).rejects.toMatchObject({
      code: 'invalid-request',
    })
    await expect(model.transcribe(toneSpeech('a'), { ...plain, language: 'de' })).rejects.toMatchObject({
      code: 'invalid-request',
    })
  })
})
