import { readdir, readFile } from 'node:fs/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Transcription, TranscriptionRequest } from '../../../src/contracts/transcription.ts'
import {
  createTranscriptions,
  type TranscriptionDeps,
  type TranscriptionEnd,
} from '../../../src/workload/jobs/transcriptions.ts'
import { type Answer, fetchHere, startSite } from '../../support/file-site.ts'
import { emptyFolder } from '../../support/folder.ts'

const done: Transcription = { text: '', duration: 0.01, duration_in_seconds: 36, processing_time: 0.5 }

/** Transcriptions whose speech process says what is in the file. */
async function create(
  answer: Answer = (_request, response) => response.end('hello'),
  deps: Partial<TranscriptionDeps> = {},
) {
  const folder = await emptyFolder()
  const site = await startSite(answer)
  const ends: TranscriptionEnd[] = []
  let time = 0
  const transcriptions = createTranscriptions({
    findModel: async () => 'somewhere',
    whatToInstall: 'put a model there',
    fetchFile: fetchHere({ maxBytes: Number.POSITIVE_INFINITY }),
    transcribe: async ({ path }) => ({ ...done, text: await readFile(path, 'utf8') }),
    folder,
    onEnded: (end) => ends.push(end),
    now: () => (time += 250),
    ...deps,
  })
  onTestFinished(() => transcriptions.drain(0))
  const gone = new AbortController()
  const run = (request: TranscriptionRequest = {}) =>
    transcriptions.run({ url: `${site.origin}/a.wav`, ...request }, gone.signal)
  return { transcriptions, run, gone, ends, site, left: () => readdir(folder) }
}

/** A speech process that does nothing until its job is stopped. */
const patient: TranscriptionDeps['transcribe'] = (_job, signal) =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))

it('fetches the audio, has it written down, and leaves nothing', async () => {
  const { run, ends, left } = await create()
  expect(await run()).toMatchObject({ text: 'hello', processing_time: 0.75 })
  expect(await left()).toEqual([])
  expect(ends).toEqual(['done'])
})

describe('media that cannot be used are told in the answer', () => {
  it.each<readonly [what: string, request: TranscriptionRequest, text: RegExp]>([
    ['none', { url: undefined }, /url is missing/],
    ['no URL', { url: 'a.wav' }, /only http and https/],
    ['another scheme', { url: 's3://bucket/a.wav' }, /only http and https/],
    ['an address of this machine', { url: 'http://[::1]:1/a.wav' }, /could not be fetched/],
    ['another stream', { audio_stream_index: 1 }, /only the first audio stream/],
  ])('%s', async (_what, request, text) => {
    const { run, ends, site, left } = await create()
    expect(await run(request)).toEqual({ error: expect.stringMatching(text), duration: 0 })
    expect([ends, site.asked, await left()]).toEqual([['unusable'], [], []])
  })

  it.each<readonly [what: string, answer: Answer, text: RegExp]>([
    ['what is not there', (_request, response) => response.writeHead(404).end(), /answered with status 404/],
    ['what fails each time', (_request, response) => response.writeHead(500).end(), /answered with status 500/],
    [
      'what breaks off',
      (_request, response) => response.writeHead(200, { 'content-length': 9 }).destroy(),
      /could not be fetched/,
    ],
    [
      'too much',
      (_request, response) => response.writeHead(200, { 'content-length': 4e9 }).write('x'),
      /larger than 3 GB/,
    ],
  ])('%s', async (_what, answer, text) => {
    const { run, ends, left } = await create(answer)
    expect(await run()).toEqual({ error: expect.stringMatching(text), duration: 0 })
    expect([ends, await left()]).toEqual([['unusable'], []])
  })
})

it('refuses everything while no model is installed, with what to do', async () => {
  const { run, site } = await create(undefined, { findModel: async () => undefined })
  await expect(run()).rejects.toMatchObject({ code: 'no-speech-model', message: 'put a model there' })
  expect(site.asked).toEqual([])
})

it('says that the disk is full, which is no fault of the media', async () => {
  const { run, ends } = await create(undefined, { fetchFile: fetchHere({ minFreeBytes: 2 ** 60 }) })
  await expect(run()).rejects.toMatchObject({ code: 'execution-failed', message: expect.stringContaining('disk') })
  expect(ends).toEqual(['failed'])
})

it('stops for a client that goes away, and leaves nothing', async () => {
  const { run, gone, left } = await create(undefined, { transcribe: patient })
  const waiting = run()
  await expect.poll(left).toHaveLength(1)
  gone.abort(new Error('gone'))
  await expect(waiting).rejects.toThrow('gone')
  expect(await left()).toEqual([])
})

it('lets sixteen in, and says when to ask again', async () => {
  const { run, gone } = await create(undefined, { transcribe: patient })
  const inside = Promise.allSettled(Array.from({ length: 16 }, () => run()))
  await expect(run()).rejects.toMatchObject({ code: 'queue-full', facts: { retryAfter: 30 } })
  gone.abort(new Error('gone'))
  await inside
})

it('lets what is inside end when it is drained, for a while, and nobody in', async () => {
  const { run, transcriptions } = await create(undefined, { transcribe: patient })
  const waiting = run().catch((error: unknown) => error)
  const drained = transcriptions.drain(50)
  await expect(run()).rejects.toMatchObject({ code: 'draining' })
  await drained
  expect(await waiting).toMatchObject({ code: 'shutting-down' })
})
