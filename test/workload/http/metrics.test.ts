import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import express, { Router } from 'express'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { silentLog } from '../../../src/common/log.ts'
import { WorkloadError } from '../../../src/workload/base/errors.ts'
import { createMetrics, type MetricSources, type Metrics } from '../../../src/workload/base/metrics.ts'
import { requireApiKey } from '../../../src/workload/http/api-key.ts'
import { countRequests } from '../../../src/workload/http/count-requests.ts'
import { methodNotAllowed } from '../../../src/workload/http/method-not-allowed.ts'
import { problemHandler } from '../../../src/workload/http/problem-handler.ts'
import { metricsRoute } from '../../../src/workload/http/routes/metrics.ts'
import { createMetricsWatcher } from '../../../src/workload/jobs/metrics-watcher.ts'
import { launchEngines, type StartedEngines } from '../../support/engine.ts'
import { samplesOf } from '../../support/metrics.ts'
import { node, picture, saving, slow } from '../../support/prompts.ts'
import { watchedJob, watchedRun } from '../../support/watched-run.ts'

const sources: MetricSources = {
  build: { version: '1.2.3', api_version: '1.16.1' },
  jobs: () => ({ pending: 3, running: 2, delivering: 1 }),
  outbox: async () => [
    { kind: 'webhook_v2', outcome: 'pending', count: 4 },
    { kind: 'webhook', outcome: 'dead', count: 1 },
  ],
  cacheBytes: async () => ({ model: 1000, media: 10 }),
}

let engines: StartedEngines
let onMeasure: ReturnType<Metrics['networksOfEngine']> = () => undefined
beforeAll(async () => {
  engines = await launchEngines({ onMeasure: (measure) => onMeasure(measure) })
})
afterAll(() => engines.close())

const read = async (metrics: Metrics) => samplesOf(await metrics.text())

/** A server that counts its requests, for the length of one test. */
async function counted(metrics: Metrics): Promise<string> {
  const app = express()
  app.use(countRequests(metrics.onRequest, () => performance.now()))
  app.use(Router().get('/health', (_request, response) => void response.json({})))
  app.use(requireApiKey('key'), metricsRoute(metrics))
  const router = Router()
  router
    .route('/jobs/:id')
    .get(() => {
      throw new WorkloadError('job-not-found', 'none')
    })
    .all(methodNotAllowed('GET'))
  router.get('/never', (request) => void setTimeout(() => request.destroy(), 10))
  app.use('/api', router)
  app.use(router)
  app.use(() => {
    throw new WorkloadError('not-found', 'none')
  })
  app.use(problemHandler(silentLog))
  const server = createServer(app).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close().closeAllConnections())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
const headers = { 'service-api-key': 'key' }

describe('GET /metrics', () => {
  it('answers who has the key, in the text format of Prometheus', async () => {
    const url = await counted(createMetrics(sources))
    expect((await fetch(`${url}/metrics`)).status).toBe(403)
    const response = await fetch(`${url}/metrics`, { headers })
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    const text = await response.text()
    expect(text).toMatch(/^# HELP prompt_jobs_total \S/m)
    expect(text).toMatch(/^# TYPE node_seconds histogram$/m)
    expect((await fetch(`${url}/metrics`, { headers, method: 'POST' })).status).toBe(405)
  })

  it('tells what is there at this moment: jobs, calls to be made, kept files, memory, lag and build', async () => {
    const sample = await read(createMetrics(sources))
    expect(sample('prompt_jobs', { state: 'pending' })).toBe(3)
    expect(sample('prompt_jobs', { state: 'delivering' })).toBe(1)
    expect(sample('webhook_outbox', { kind: 'webhook_v2', outcome: 'pending' })).toBe(4)
    expect(sample('webhook_outbox', { kind: 'webhook', outcome: 'dead' })).toBe(1)
    expect(sample('cache_bytes', { kind: 'model' })).toBe(1000)
    expect(sample('build_info', { version: '1.2.3', api_version: '1.16.1' })).toBe(1)
    expect(sample('process_resident_memory_bytes')).toBeGreaterThan(1_000_000)
    expect(sample('nodejs_eventloop_lag_seconds')).toBeGreaterThanOrEqual(0)
  })

  it('counts requests by the pattern of their path: no id and no unknown path or method is a label', async () => {
    const metrics = createMetrics(sources)
    const url = await counted(metrics)
    await fetch(`${url}/health`)
    await fetch(`${url}/health`)
    for (const path of ['/jobs/secret-id', '/jobs/other-id', '/api/jobs/third-id', '/secret-path'])
      await fetch(`${url}${path}`, { headers })
    await fetch(`${url}/jobs/secret-id`, { headers, method: 'PATCH' })
    await fetch(`${url}/never`, { headers }).catch(() => undefined)
    await expect
      .poll(async () => (await read(metrics))('http_requests_total', { route: '/never', method: 'GET', status: '499' }))
      .toBe(1)
    const sample = await read(metrics)
    const requests = (route: string, method: string, status: string) =>
      sample('http_requests_total', { route, method, status })
    expect(requests('/health', 'GET', '200')).toBe(2)
    expect(requests('/jobs/:id', 'GET', '404')).toBe(3)
    expect(requests('/jobs/:id', 'PATCH', '405')).toBe(1)
    expect(requests('other', 'GET', '404')).toBe(1)
    expect(sample('http_request_seconds_count', { route: '/health', method: 'GET', status: '200' })).toBe(2)
    expect(await metrics.text()).not.toMatch(/secret|third/)
  })
})

it('prompts, their nodes and their outputs are counted as engines run them', async () => {
  const metrics = createMetrics(sources)
  const watcher = createMetricsWatcher(metrics, Date.now)
  const prompt = saving(slow(2, 20))
  await watchedRun(engines, watcher, prompt)
  await watchedRun(engines, watcher, prompt, { id: 'again' }) // all of it is cached
  const failing = node('TestFails', { image: ['source', 0], message: 'no luck' })
  await watchedRun(engines, watcher, saving(failing, { source: picture() }), { id: 'failing' })
  watcher.ended(watchedJob({}), new WorkloadError('cancelled', 'stopped'))
  const sample = await read(metrics)
  const ended = (status: string) => sample('prompt_jobs_total', { status })
  expect([ended('succeeded'), ended('failed'), ended('cancelled')]).toEqual([2, 1, 1])
  expect(sample('prompt_queue_wait_seconds_count')).toBe(3)
  expect(sample('prompt_total_seconds_count')).toBe(4)
  expect(sample('node_seconds_count', { class_type: 'TestSlow' })).toBe(1)
  expect(sample('node_seconds_sum', { class_type: 'TestSlow' })).toBeGreaterThan(0.03)
  expect(sample('node_seconds_count', { class_type: 'TestFails' })).toBeUndefined()
  expect(sample('output_bytes_total', { format: 'png' })).toBeGreaterThan(100)
  expect(sample('conversion_seconds_count', { format: 'png' })).toBe(2)
})

it('networks are counted by the family of their model, and no longer as open when their engine is gone', async () => {
  const metrics = createMetrics(sources)
  onMeasure = metrics.networksOfEngine()
  const text = (words: string) => node('CLIPTextEncode', { text: words, clip: ['model', 1] })
  const sampler = { seed: 1, steps: 3, cfg: 2, sampler_name: 'euler', scheduler: 'normal', denoise: 1 }
  const links = { model: ['model', 0], positive: ['yes', 0], negative: ['no', 0], latent_image: ['latent', 0] }
  await watchedRun(engines, createMetricsWatcher(metrics, Date.now), {
    ...saving(node('VAEDecode', { samples: ['sample', 0], vae: ['model', 2] })),
    model: node('CheckpointLoaderSimple', { ckpt_name: 'easel-demo.safetensors' }),
    latent: node('EmptyLatentImage', { width: 64, height: 64, batch_size: 1 }),
    yes: text('a boat'),
    no: text(''),
    sample: node('KSampler', { ...sampler, ...links }),
  })
  const one = async (name: string) => (await read(metrics))(name, { family: 'sd1' })
  await expect.poll(() => one('model_load_seconds_count')).toBe(3)
  expect(await one('sampler_steps_total')).toBe(3)
  expect(await one('sampler_batch_size_sum')).toBe(6)
  expect(await one('sampler_step_seconds_count')).toBe(3)
  expect(await one('model_resident_bytes')).toBeGreaterThan(1_000_000)
  process.kill(engines.each[0]!.processId!, 'SIGKILL')
  await expect.poll(() => one('model_resident_bytes')).toBe(0)
})

it('what other rooms report is counted under the labels they give', async () => {
  const metrics = createMetrics(sources)
  metrics.onAttempt('webhook_v2', 'failed')
  metrics.onAttempt('webhook_v2', 'ok')
  metrics.onUploadAttempt('s3', 'ok')
  metrics.onDownload('model', 70)
  metrics.onDownload('model', 7)
  metrics.onEviction('media')
  metrics.onSystemEventDropped()
  const sample = await read(metrics)
  expect(sample('webhook_attempts_total', { kind: 'webhook_v2', outcome: 'failed' })).toBe(1)
  expect(sample('upload_attempts_total', { target: 's3', outcome: 'ok' })).toBe(1)
  expect(sample('download_bytes_total', { kind: 'model' })).toBe(77)
  expect(sample('cache_evictions_total', { kind: 'media' })).toBe(1)
  expect(sample('system_events_dropped_total')).toBe(1)
})
