import type { CounterConfiguration, GaugeConfiguration, HistogramConfiguration } from 'prom-client'
import type { NetworkMeasure } from './network-measure.ts'
import { once } from './once.ts'

/** What is read when somebody asks. No label of it may be an id, a URL or a word of a client's. */
export interface MetricSources {
  /** Labels of `build_info`: the versions of this program and of its interface, and where it runs. */
  readonly build: Readonly<Record<string, string>>
  /** Prompts by state. */
  jobs(): Readonly<Record<'pending' | 'running' | 'delivering', number>>
  /** Calls of webhooks that are still to be made, and those that were given up. */
  outbox(): Promise<readonly OutboxCount[]>
  /** Bytes of files that were fetched and are kept. */
  cacheBytes(): Promise<Readonly<Record<StoredKind, number>>>
}

/** The two kinds of files that are fetched. */
export type StoredKind = 'model' | 'media'

export interface OutboxCount {
  readonly kind: string
  readonly outcome: 'pending' | 'dead'
  readonly count: number
}

/** One answered request. `route` is the pattern of its path. */
export interface EndedRequest {
  readonly route: string
  readonly method: string
  readonly status: string
}

/** What happens in this process, in numbers. Each function may be handed on by itself; times are in seconds. */
export interface Metrics {
  onJobStarted(waited: number): void
  onJobEnded(status: string, seconds: number): void
  onNodeEnded(classType: string, seconds: number): void
  onOutput(format: string, bytes: number): void
  onConversion(format: string, seconds: number): void
  onDownload(kind: StoredKind, bytes: number): void
  onEviction(kind: StoredKind): void
  onAttempt(kind: string, outcome: 'ok' | 'failed'): void
  onUploadAttempt(target: string, outcome: 'ok' | 'failed'): void
  onSystemEventDropped(): void
  onMetadataRequest(outcome: 'ok' | 'failed'): void
  /** What the platform was told that this instance is worth. */
  onDeletionCost(cost: number): void
  onTranscription(end: string, seconds: number): void
  onRequest(request: EndedRequest, seconds: number): void
  /** For one engine process after another: what to tell of its networks. */
  networksOfEngine(): (measure: NetworkMeasure | 'lost') => void
  /** Prepares to count, which would otherwise hold up who comes first. */
  load(): Promise<unknown>
  /** All of it as Prometheus reads it (text format 0.0.4). */
  text(): Promise<string>
}

/** What `Metrics.text` is. */
export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** From a cached node to the longest prompt. */
const WORK = [0.001, 0.01, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800]
const WAITS = [0.01, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800]
const STEPS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const BATCHES = [1, 2, 4, 8, 16, 32]
const REQUESTS = [0.005, 0.025, 0.1, 0.5, 1, 5, 30, 100]

/** Counts from the first call on; the library is loaded then, for a server listens sooner without it. */
export function createMetrics(sources: MetricSources): Metrics {
  const meters = once(async () => defineMeters(await import('prom-client'), sources))
  const count = (take: (made: Meters) => void): void => void meters().then(take)
  const countNetwork = (measure: NetworkMeasure, hold: (family: string, bytes: number) => void): void => {
    const { family } = measure
    if (measure.kind === 'opened') {
      hold(family, measure.bytes)
      count(({ loads }) => loads.observe({ family }, measure.seconds))
    } else if (measure.kind === 'released') {
      hold(family, -measure.bytes)
      count(({ modelEvictions }) => modelEvictions.inc({ family }))
    } else
      count(({ steps, stepSeconds, batchSize }) => {
        steps.inc({ family })
        stepSeconds.observe({ family }, measure.seconds)
        batchSize.observe({ family }, measure.rows)
      })
  }
  return {
    onJobStarted: (waited) => count(({ queueWait }) => queueWait.observe(waited)),
    onJobEnded: (status, seconds) =>
      count(({ jobs, jobSeconds }) => {
        jobs.inc({ status })
        jobSeconds.observe(seconds)
      }),
    onNodeEnded: (class_type, seconds) => count(({ nodeSeconds }) => nodeSeconds.observe({ class_type }, seconds)),
    onOutput: (format, bytes) => count(({ outputBytes }) => outputBytes.inc({ format }, bytes)),
    onConversion: (format, seconds) => count(({ conversion }) => conversion.observe({ format }, seconds)),
    onDownload: (kind, bytes) => count(({ downloaded }) => downloaded.inc({ kind }, bytes)),
    onEviction: (kind) => count(({ evictions }) => evictions.inc({ kind })),
    onAttempt: (kind, outcome) => count(({ webhookAttempts }) => webhookAttempts.inc({ kind, outcome })),
    onUploadAttempt: (target, outcome) => count(({ uploadAttempts }) => uploadAttempts.inc({ target, outcome })),
    onSystemEventDropped: () => count(({ eventsDropped }) => eventsDropped.inc()),
    onMetadataRequest: (outcome) => count(({ metadataRequests }) => metadataRequests.inc({ outcome })),
    onDeletionCost: (cost) => count(({ deletionCost }) => deletionCost.set(cost)),
    onTranscription: (end, seconds) =>
      count(({ transcriptions, transcriptionSeconds }) => {
        transcriptions.inc({ end })
        transcriptionSeconds.observe(seconds)
      }),
    onRequest: (request, seconds) =>
      count(({ requests, requestSeconds }) => {
        requests.inc({ ...request })
        requestSeconds.observe({ ...request }, seconds)
      }),
    networksOfEngine() {
      const resident = new Map<string, number>()
      const hold = (family: string, bytes: number) => {
        resident.set(family, (resident.get(family) ?? 0) + bytes)
        count(({ residentBytes }) => residentBytes.inc({ family }, bytes))
      }
      return (measure) => {
        if (measure === 'lost') for (const [family, bytes] of resident) hold(family, -bytes)
        else countNetwork(measure, hold)
      }
    },
    load: meters,
    text: async () => (await meters()).registry.metrics(),
  }
}

type Meters = ReturnType<typeof defineMeters>

function defineMeters(prom: typeof import('prom-client'), sources: MetricSources) {
  const registry = new prom.Registry()
  const registers = [registry]
  const counter = <T extends string = never>(made: CounterConfiguration<T>) => new prom.Counter({ ...made, registers })
  const histogram = <T extends string = never>(made: HistogramConfiguration<T>) =>
    new prom.Histogram({ ...made, registers })
  const gauge = <T extends string = never>(made: GaugeConfiguration<T>) => new prom.Gauge<T>({ ...made, registers })

  prom.collectDefaultMetrics({ register: registry })
  gauge({
    name: 'build_info',
    help: 'What runs here; always 1',
    labelNames: Object.keys(sources.build),
    collect() {
      this.set(sources.build, 1)
    },
  })
  gauge({
    name: 'prompt_jobs',
    help: 'Prompts that have not ended',
    labelNames: ['state'],
    collect() {
      for (const [state, number] of Object.entries(sources.jobs())) this.set({ state }, number)
    },
  })
  gauge({
    name: 'webhook_outbox',
    help: 'Calls of webhooks that are to be made (pending) or were given up (dead)',
    labelNames: ['kind', 'outcome'],
    async collect() {
      const counts = await sources.outbox()
      this.reset()
      for (const { kind, outcome, count } of counts) this.set({ kind, outcome }, count)
    },
  })
  gauge({
    name: 'cache_bytes',
    help: 'Fetched files on disk',
    labelNames: ['kind'],
    async collect() {
      for (const [kind, bytes] of Object.entries(await sources.cacheBytes())) this.set({ kind }, bytes)
    },
  })
  const requestLabels = ['route', 'method', 'status'] as const
  return {
    registry,
    jobs: counter({ name: 'prompt_jobs_total', help: 'Prompts that have ended', labelNames: ['status'] }),
    queueWait: histogram({ name: 'prompt_queue_wait_seconds', help: 'Time in the queue', buckets: WAITS }),
    jobSeconds: histogram({ name: 'prompt_total_seconds', help: 'Time from arrival to end', buckets: WORK }),
    nodeSeconds: histogram({
      name: 'node_seconds',
      help: 'Time that nodes took, in which others may have run beside them',
      labelNames: ['class_type'],
      buckets: WORK,
    }),
    steps: counter({
      name: 'sampler_steps_total',
      help: 'Runs of networks that remove noise, each one step of all prompts that shared it',
      labelNames: ['family'],
    }),
    stepSeconds: histogram({
      name: 'sampler_step_seconds',
      help: 'Time of such a run',
      labelNames: ['family'],
      buckets: STEPS,
    }),
    batchSize: histogram({
      name: 'sampler_batch_size',
      help: 'Rows of such a run: with guidance two for each picture',
      labelNames: ['family'],
      buckets: BATCHES,
    }),
    loads: histogram({
      name: 'model_load_seconds',
      help: 'Time to open a network',
      labelNames: ['family'],
      buckets: WORK,
    }),
    residentBytes: gauge({ name: 'model_resident_bytes', help: 'Weights of open networks', labelNames: ['family'] }),
    modelEvictions: counter({
      name: 'model_evictions_total',
      help: 'Networks whose memory was given back',
      labelNames: ['family'],
    }),
    outputBytes: counter({ name: 'output_bytes_total', help: 'Bytes of results', labelNames: ['format'] }),
    conversion: histogram({
      name: 'conversion_seconds',
      help: 'Time that encoding the results of a node took',
      labelNames: ['format'],
      buckets: WORK,
    }),
    downloaded: counter({ name: 'download_bytes_total', help: 'Bytes that were fetched', labelNames: ['kind'] }),
    evictions: counter({
      name: 'cache_evictions_total',
      help: 'Fetched files that were removed to make room',
      labelNames: ['kind'],
    }),
    webhookAttempts: counter({
      name: 'webhook_attempts_total',
      help: 'Calls of webhooks, repeated ones too',
      labelNames: ['kind', 'outcome'],
    }),
    uploadAttempts: counter({
      name: 'upload_attempts_total',
      help: 'Uploads of files, repeated ones too',
      labelNames: ['target', 'outcome'],
    }),
    metadataRequests: counter({
      name: 'imds_requests_total',
      help: 'Requests to the metadata service of the instance',
      labelNames: ['outcome'],
    }),
    deletionCost: gauge({ name: 'deletion_cost', help: 'What the platform was told that this instance is worth' }),
    eventsDropped: counter({ name: 'system_events_dropped_total', help: 'System events that nobody was told of' }),
    transcriptions: counter({
      name: 'transcriptions_total',
      help: 'Transcriptions that have ended',
      labelNames: ['end'],
    }),
    transcriptionSeconds: histogram({
      name: 'transcription_seconds',
      help: 'Time from arrival to end, with waiting and fetching',
      buckets: WORK,
    }),
    requests: counter({ name: 'http_requests_total', help: 'Requests that were answered', labelNames: requestLabels }),
    requestSeconds: histogram({
      name: 'http_request_seconds',
      help: 'Time from the head of a request to the end of its answer',
      labelNames: requestLabels,
      buckets: REQUESTS,
    }),
  }
}
