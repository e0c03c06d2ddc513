import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import sharp from 'sharp'
import { Webhook } from 'standardwebhooks'
import { expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { createdInferenceJobSchema, inferenceJobSchema } from '../../../src/contracts/platform/inference-job.ts'
import { emptyFolder } from '../../support/folder.ts'
import { platformFolderIn } from '../../support/platform-database.ts'
import { startPlatform } from '../../support/platform-program.ts'
import { receiver } from '../../support/receiver.ts'
import { listen } from '../../support/site.ts'
import { toneSpeech } from '../../support/speech.ts'
import { wav } from '../../support/wav.ts'

const STARTING_MS = 120_000
const model = resolve('test/fixtures/whisper-tiny')
const JOBS = '/inference-endpoints/transcribe/jobs'

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Folders of a platform that is new, and of models. */
async function folders({ speech }: { readonly speech: boolean }) {
  const [PLATFORM_DATA_DIR, MODEL_DIR] = [await emptyFolder(), await emptyFolder()]
  await platformFolderIn(PLATFORM_DATA_DIR)
  await mkdir(join(MODEL_DIR, 'whisper'))
  if (speech) await symlink(model, join(MODEL_DIR, 'whisper', 'tiny'))
  return { PLATFORM_DATA_DIR, MODEL_DIR, EXECUTION_PROVIDER: 'cpu' }
}

/** The built platform; it ends with the test, and what it started with it. */
async function started(environment: Awaited<ReturnType<typeof folders>> & Readonly<Record<string, string>>) {
  const program = startPlatform(environment)
  onTestFinished(async () => void (await program.stop()))
  await program.line(/^try: /)
  const book = JSON.parse(await readFile(join(environment.PLATFORM_DATA_DIR, 'platform.json'), 'utf8')) as Record<
    string,
    string
  >
  const { management, storage, organization, api_key = '' } = book
  const headers = { 'service-api-key': api_key }
  const ask = async (line: string, body?: unknown): Promise<Response> => {
    const [method = '', path] = line.split(' ')
    return fetch(`${management}/api/public/organizations/${organization}${path}`, {
      method,
      headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  }
  return {
    program,
    ask,
    /** Resolves with a signed URL. */
    async upload(bytes: Buffer): Promise<string> {
      const form = new FormData()
      form.set('file', new Blob([new Uint8Array(bytes)]), 'said.wav')
      form.set('mimeType', 'audio/wav')
      form.set('sign', 'true')
      const url = `${storage}/organizations/${organization}/files/said.wav`
      const answer = await fetch(url, { method: 'PUT', headers, body: form })
      return ((await answer.json()) as { readonly url: string }).url
    },
    async submit(input: object, webhook?: string, jobs = JOBS): Promise<string> {
      return createdInferenceJobSchema.parse(await (await ask(`POST ${jobs}`, { input, webhook })).json()).id
    },
    ended: (id: string, jobs = JOBS) =>
      vi.waitFor(
        async () => {
          const job = inferenceJobSchema.parse(await (await ask(`GET ${jobs}/${id}`)).json())
          if (job.status === 'pending' || job.status === 'running') throw new Error(`it is ${job.status}`)
          return job
        },
        { timeout: STARTING_MS, interval: 200 },
      ),
  }
}

it('writes down what is said in a file of the storage, and calls the webhook', { timeout: 300_000 }, async () => {
  const { ask, upload, submit, ended } = await started(await folders({ speech: true }))
  const { url: webhook, calls } = await receiver()
  const url = await upload(wav([toneSpeech('hello there.')], 16_000))
  const job = await ended(await submit({ url, word_level_timestamps: true }, webhook))
  expect(job).toMatchObject({
    status: 'succeeded',
    output: {
      text: expect.stringMatching(/hello there/i),
      duration: 0,
      duration_in_seconds: expect.closeTo(2.4, 1),
      processing_time: expect.any(Number),
      word_segments: [{}, {}],
    },
  })
  await expect.poll(() => calls).toHaveLength(1)
  const { secret_key } = (await (await ask('GET /webhook-secret-key')).json()) as { readonly secret_key: string }
  const { raw = '', headers } = calls[0]!
  expect(new Webhook(secret_key).verify(raw, headers as Record<string, string>)).toMatchObject({
    type: 'inference_endpoint.job.succeeded',
    data: job,
  })

  const asFile = await ended(await submit({ url, return_as_file: true }))
  const { url: link, ...times } = asFile.output as { readonly url: string } & Record<string, unknown>
  expect(Object.keys(times).sort()).toEqual(['duration', 'duration_in_seconds', 'processing_time'])
  expect(await (await fetch(link)).json()).toMatchObject({ text: expect.stringMatching(/hello there/i), ...times })

  const unusable = await ended(await submit({ url: link }))
  expect(unusable).toMatchObject({ status: 'succeeded', output: { error: expect.any(String), duration: 0 } })
})

it('says what to install where there is no model', { timeout: 300_000 }, async () => {
  const { submit, ended } = await started(await folders({ speech: false }))
  const job = await ended(await submit({ url: 'https://files.example.com/a.mp3' }))
  expect(job).toMatchObject({ status: 'failed', output: { error: expect.stringMatching(/whisper/i), duration: 0 } })
})

it('draws what a graph says at an endpoint of the operator, which the same workload does', {
  timeout: 300_000,
}, async () => {
  const file = join(await emptyFolder(), 'endpoints.json')
  const input_schema = { type: 'object', properties: { prompt: { type: 'object' } }, required: ['prompt'] }
  await writeFile(file, JSON.stringify([{ name: 'picture', input_schema, processor: 'workload' }]))
  const { submit, ended } = await started({ ...(await folders({ speech: false })), ENDPOINTS_FILE: file })
  const prompt = {
    1: { class_type: 'EmptyImage', inputs: { width: 16, height: 8, batch_size: 1, color: 255 } },
    2: { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'blue' } },
  }
  const jobs = '/inference-endpoints/picture/jobs'
  const job = await ended(await submit({ prompt }, undefined, jobs), jobs)
  expect(job.status).toBe('succeeded')
  const { images } = z.object({ images: z.array(z.string()) }).parse(job.output)
  const { width, height } = await sharp(Buffer.from(images[0]!, 'base64')).metadata()
  expect([images.length, width, height]).toEqual([1, 16, 8])
})

it('writes it down after a crash too, with what was left ended', { timeout: 300_000 }, async () => {
  const environment = await folders({ speech: true })
  const first = await started(environment)
  let asked = 0
  const { port } = await listen((_request, response) => {
    if (++asked > 1) response.end(wav([toneSpeech('hello there.')], 16_000))
  })
  const id = await first.submit({ url: `http://127.0.0.1:${port}/said.wav` })
  await vi.waitFor(() => expect(asked).toBe(1), { timeout: STARTING_MS, interval: 100 })
  await first.program.stop('SIGKILL')
  const note = join(environment.PLATFORM_DATA_DIR, 'endpoint-workload', 'running', 'endpoints.json')
  const { pid } = JSON.parse(await readFile(note, 'utf8')) as { readonly pid: number }
  expect(isRunning(pid)).toBe(true)

  const second = await started(environment)
  const job = await second.ended(id)
  expect(job).toMatchObject({ status: 'succeeded', output: { text: expect.stringMatching(/hello there/i) } })
  expect(job.events.map(({ action }) => action)).toEqual(['created', 'started', 'started', 'succeeded'])
  expect(isRunning(pid)).toBe(false)
})
