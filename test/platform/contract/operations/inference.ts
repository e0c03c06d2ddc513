import { expect } from 'vitest'
import {
  inferenceEndpointPageSchema,
  inferenceEndpointSchema,
} from '../../../../src/contracts/platform/inference-endpoint.ts'
import {
  createdInferenceJobSchema,
  inferenceJobPageSchema,
  inferenceJobSchema,
} from '../../../../src/contracts/platform/inference-job.ts'
import type { Answer } from '../ask.ts'
import { jsonOf, ORGANIZATION } from '../bench.ts'
import { flag, integer, rare, url } from '../bounds.ts'
import type { Asked, Bound, Fault, Operation } from '../operation.ts'
import { withParams } from '../requests.ts'
import { anInferenceJob } from './fixtures.ts'

const ENDPOINTS = `${ORGANIZATION}/inference-endpoints`
const ENDPOINT = `${ENDPOINTS}/:endpoint`
const JOBS = `${ENDPOINT}/jobs`
const JOB = `${JOBS}/:job`
const management = 'management'

/** Longer than jobs are kept after their end. */
const RETENTION_MS = 3_600_000

const properties = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, i]))

/** Of every job. */
const about: readonly Bound[] = [
  { member: 'metadata', accepted: [{}, properties(20), { a: null }], refused: [properties(21), [], 'x', 1] },
  url('webhook'),
  url('webhook_url'),
  { member: 'input', accepted: [], refused: [[], 'x', 1] },
]
const optional = ['metadata', 'webhook', 'webhook_url']

const AUDIO = 'https://files.test/a.mp3'
const flags = [
  ...['multichannel', 'diarization', 'sentence_diarization', 'return_as_file', 'sentence_level_timestamps'],
  ...['word_level_timestamps', 'overall_classification', 'overall_sentiment_analysis', 'enhanced_accuracy', 'srt'],
]
const texts = ['llm_translation', 'srt_translation', 'custom_prompt', 'custom_vocabulary', 'classification_labels']
const codes =
  `en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta no th ur hr bg lt la
  mi ml cy sk te fa lv bn sr az sl kn et mk br eu is hy ne mn bs kk sq sw gl mr pa si km sn yo so af oc ka be tg sd gu am
  yi lo uz fo ht ps tk nn mt sa lb my bo tl mg as tt haw ln ha ba jw su yue`.split(/\s+/)

const created = (answer: Answer): void => {
  const { status, events, create_time, update_time } = createdInferenceJobSchema.parse(jsonOf(answer))
  expect([status, events, update_time]).toEqual(['pending', [], create_time])
}

/** Makes a job, of which only the URL is echoed on `transcribe`. */
const echoed = (answer: Answer, { body }: Asked): void => {
  created(answer)
  const { input } = body as { readonly input: { readonly url: unknown } }
  expect(createdInferenceJobSchema.parse(jsonOf(answer)).input).toEqual({ url: input.url })
}

const whole = (answer: Answer, { body }: Asked): void => {
  created(answer)
  expect(createdInferenceJobSchema.parse(jsonOf(answer)).input).toEqual((body as { readonly input: unknown }).input)
}

const unknownInput: Fault = {
  ...{ what: 'an unknown member of the input', kind: 'validation', status: 400, detail: /unheard_of/ },
  put: (asked) => ({ ...asked, body: { input: { url: AUDIO, unheard_of: 1 } } }),
}

/** In the words of section 4.4. */
const twoFaults: Fault = {
  ...{ what: 'two members', kind: 'validation', status: 400 },
  detail: 'input.url: must be an absolute http or https URL; metadata: must not have more than 20 properties',
  put: (asked) => ({ ...asked, body: { input: { url: 'a.mp3' }, metadata: properties(21) } }),
}

const ofAnotherEndpoint: Fault = {
  ...{ what: 'a job of another endpoint', kind: 'job', status: 404, detail: 'The job could not be found.' },
  put: (asked) => withParams(asked, { endpoint: 'transcribe' }),
}

/** Jobs that have ended so long ago that they are not kept. */
const expired: Fault = {
  ...{ what: 'a job that is not kept any more', kind: 'job', status: 404, detail: 'The job could not be found.' },
  async put(asked, bench) {
    const params = await anInferenceJob(bench, bench.acme)
    await bench.does(bench.acme, `DELETE /inference-endpoints/${params.endpoint}/jobs/${params.job}`)
    return { ...withParams(asked, params), laterMs: RETENTION_MS }
  },
}

/** Section 10. */
export const inferenceOperations: readonly Operation[] = [
  {
    ...{ surface: management, method: 'GET', path: ENDPOINTS, status: 200 },
    ...{ answer: inferenceEndpointPageSchema, paged: true },
  },
  {
    ...{ surface: management, method: 'GET', path: ENDPOINT, status: 200, answer: inferenceEndpointSchema },
    given: async () => ({ endpoint: 'transcribe' }),
  },
  {
    ...{ surface: management, method: 'GET', path: JOBS, given: anInferenceJob, status: 200 },
    ...{ answer: inferenceJobPageSchema, paged: true },
  },
  {
    ...{ surface: management, method: 'POST', path: JOBS, of: 'transcribe', status: 201 },
    ...{ given: async () => ({ endpoint: 'transcribe' }), answer: createdInferenceJobSchema, after: echoed },
    body: () => ({ input: { url: AUDIO, multichannel: false, diarization: true } }),
    ...{ required: ['input', 'input.url'], invalid: ['metadata', 1], closed: true, faults: [unknownInput, twoFaults] },
    optional: [
      ...optional,
      ...[...flags, ...texts, 'language_code', 'translate', 'summarize', 'audio_stream_index'].map((m) => `input.${m}`),
    ],
    bounds: [
      ...about,
      url('input.url'),
      flag('input.diarization'),
      ...rare(flags.map((member) => flag(`input.${member}`))),
      ...rare(texts.map((member) => ({ member: `input.${member}`, accepted: ['', 'french, thai'], refused: [1] }))),
      { member: 'input.language_code', accepted: ['en', 'yue'], refused: ['EN', 'xx'], wrong: ['', 1] },
      { member: 'input.language_code', accepted: codes, refused: [], isRare: true },
      { member: 'input.translate', accepted: ['to_eng'], refused: ['to_fra', true] },
      { ...integer('input.summarize', 0, 1000), refused: [-1, 0.5, '1'] },
      { ...integer('input.audio_stream_index', 0, 1000), refused: [-1, 0.5, '1'] },
    ],
  },
  {
    ...{ surface: management, method: 'POST', path: JOBS, of: 'transcription-lite', status: 201 },
    ...{ given: async () => ({ endpoint: 'transcription-lite' }), answer: createdInferenceJobSchema, after: whole },
    body: () => ({ input: { url: AUDIO, deep: { of: [null] } } }),
    ...{ required: ['input'], invalid: ['metadata', 1], optional },
    bounds: [...about, { member: 'input', accepted: [{}, { diarization: 'no' }], refused: [] }],
  },
  {
    ...{ surface: management, method: 'POST', path: JOBS, of: 'another endpoint', status: 201 },
    ...{ given: async () => ({ endpoint: 'sized' }), answer: createdInferenceJobSchema, after: whole },
    body: () => ({ input: { size: 1, more: [null] } }),
    ...{ required: ['input', 'input.size'], invalid: ['metadata', 1], optional },
    bounds: [...about, integer('input.size', 1, 9)],
  },
  {
    ...{ surface: management, method: 'GET', path: JOB, given: anInferenceJob, status: 200 },
    ...{ answer: inferenceJobSchema, faults: [ofAnotherEndpoint, expired] },
    after(answer) {
      expect(inferenceJobSchema.parse(jsonOf(answer)).events[0]?.action).toBe('created')
    },
  },
  {
    ...{ surface: management, method: 'DELETE', path: JOB, given: anInferenceJob, status: 202 },
    faults: [ofAnotherEndpoint, expired],
    async after(_answer, asked, bench) {
      const found = await bench.send({ ...asked, method: 'GET', query: '' })
      expect(inferenceJobSchema.parse(jsonOf(found)).status).toBe('cancelled')
    },
  },
]
