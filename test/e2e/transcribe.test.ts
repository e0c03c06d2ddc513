import { cp, mkdir } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Transcription, UnusableMedia } from '../../src/contracts/transcription.ts'
import { sharedFolder } from '../support/folder.ts'
import { type Server, spawnServer } from '../support/server.ts'
import { toneSpeech } from '../support/speech.ts'
import { wav } from '../support/wav.ts'

const folder = sharedFolder()
const RATE = 16_000

/** Speech at another rate, each sample several times. */
const slower = (samples: Float32Array, times: number) =>
  Float32Array.from({ length: samples.length * times }, (_, i) => samples[Math.floor(i / times)]!)

/** What the local site has: sound by the path of its URL. */
const sounds: Readonly<Record<string, Buffer>> = {
  '/hello.wav': wav([toneSpeech('hello there! good day.')], RATE),
  '/48k.wav': wav([slower(toneSpeech('hello there.'), 3)], 48_000),
  '/german.wav': wav([toneSpeech('guten tag.', 'de')], RATE),
  '/two.wav': wav(sameLength(toneSpeech('good morning.'), toneSpeech(`${' '.repeat(16)}good evening.`)), RATE),
  '/long.wav': wav([toneSpeech('hello there! '.repeat(200))], RATE),
  '/page.wav': Buffer.from('<!doctype html><html>not here</html>'),
}

function sameLength(...channels: readonly Float32Array[]): readonly Float32Array[] {
  const length = Math.max(...channels.map((channel) => channel.length))
  return channels.map((channel) => {
    const longer = new Float32Array(length)
    longer.set(channel)
    return longer
  })
}

const site: RequestListener = ({ url = '' }, response) => {
  const sound = sounds[url]
  if (sound) response.end(sound)
  else response.writeHead(404).end()
}

let server: Server
let origin: string
/** What the server answered before it had a model. */
let before: Response
const listener = createServer(site)
beforeAll(async () => {
  await new Promise<void>((listening) => void listener.listen(0, '127.0.0.1', listening))
  origin = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`
  server = await spawnServer({ MODEL_DIR: folder(), OUTBOUND_ALLOW: '127.0.0.1', WARMUP_PROMPT_FILE: 'none' })
  before = await ask('/hello.wav')
  await mkdir(join(folder(), 'whisper'))
  await cp('test/fixtures/whisper-tiny', join(folder(), 'whisper', 'tiny'), { recursive: true })
})
afterAll(async () => {
  await server?.stop()
  listener.close()
})

const ask = (url: string, options: object = {}, init: RequestInit = {}) =>
  fetch(`${server.url}/transcribe`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'job-id': 'a-job' },
    body: JSON.stringify({ url: `${origin}${url}`, ...options }),
    ...init,
  })

async function transcribed(url: string, options?: object): Promise<Transcription> {
  const response = await ask(url, options)
  expect(response.status).toBe(200)
  return (await response.json()) as Transcription
}

it('says what to install as long as there is no model', async () => {
  const problem = (await before.json()) as { detail: string }
  expect([before.status, problem]).toMatchObject([503, { code: 'no-speech-model' }])
  expect(problem.detail).toContain(join(folder(), 'whisper'))
  expect(before.headers.get('retry-after')).toBe('60')
})

describe('a server with a model for speech', () => {
  it('writes down what is said, with times that are right and captions', async () => {
    const made = await transcribed('/hello.wav', {
      word_level_timestamps: true,
      sentence_level_timestamps: true,
      srt: true,
    })
    expect(made).toMatchObject({ text: 'hello there! good day.', duration: 0, duration_in_seconds: 4.4 })
    expect(made.word_segments?.map(({ word }) => word)).toEqual(['hello', 'there!', 'good', 'day.'])
    const starts = [0, 1.2, 2.6, 3.6] // each letter and each blank takes 0.2 s
    for (const [i, { start, end, score }] of made.word_segments!.entries()) {
      expect(Math.abs(start - starts[i]!), `${i} starts at ${start}`).toBeLessThanOrEqual(0.1)
      expect(end).toBeGreaterThan(start)
      expect(score).toBeGreaterThan(0.5)
    }
    expect(made.sentence_level_timestamps?.map(({ text }) => text)).toEqual(['hello there!', 'good day.'])
    expect(made.srt_content).toMatch(/^1\n00:00:00,\d{3} --> 00:00:02,\d{3}\nhello there!\n\n2\n[^\n]+\ngood day\.\n$/)
  })

  it('hears other rates, languages, and writes English on demand', async () => {
    expect((await transcribed('/48k.wav')).text).toBe('hello there.')
    expect((await transcribed('/german.wav')).text).toBe('guten tag.')
    expect((await transcribed('/german.wav', { translate: 'to_eng' })).text).toBe('GUTEN TAG.')
  })

  it('tells channels apart', async () => {
    const made = await transcribed('/two.wav', { multichannel: true, sentence_diarization: true })
    expect(made.sentence_level_timestamps?.map(({ text, speaker, channel }) => [text, speaker, channel])).toEqual([
      ['good morning.', 'SPEAKER_00', 0],
      ['good evening.', 'SPEAKER_01', 1],
    ])
  })

  it('says in its answer what is wrong with media', async () => {
    const answers = await Promise.all(['/page.wav', '/missing.wav'].map((url) => transcribed(url)))
    expect(answers).toEqual([
      { error: 'the file is no audio that can be read here: it is HTML', duration: 0 },
      { error: 'the audio could not be fetched: the URL answered with status 404', duration: 0 },
    ] satisfies UnusableMedia[])
    expect(await (await fetch(`${server.url}/metrics`)).text()).toContain('transcriptions_total{end="unusable"} 2')
  })

  it('refuses what is no request, and a language that the model does not know', async () => {
    for (const options of [{ srt: 'yes' }, { language_code: 'elvish' }, { language_code: 'ja' }]) {
      const response = await ask('/hello.wav', options)
      expect([response.status, await response.json()]).toMatchObject([400, { code: 'invalid-request' }])
    }
  })

  it('stops for a client that goes away and goes on with the next', async () => {
    const gone = new AbortController()
    const long = ask('/long.wav', {}, { signal: gone.signal }).catch((error: Error) => error.name)
    await expect.poll(async () => (await server.spooled()).length).toBe(1)
    gone.abort()
    expect(await long).toBe('AbortError')
    expect((await transcribed('/48k.wav')).text).toBe('hello there.')
    await expect.poll(async () => (await server.spooled()).length).toBe(0)
  })
})
