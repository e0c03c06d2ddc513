import type { Log } from '../../common/log.ts'
import { createMetrics, type Metrics, type StoredKind } from '../base/metrics.ts'
import type { Config } from '../config.ts'
import { retrySchedule } from '../delivery/retry-schedule.ts'
import { signingKeys } from '../delivery/signature.ts'
import { createSystemWebhook, type SystemWebhook } from '../delivery/system-webhook.ts'
import { API_VERSION } from '../http/api-version.ts'
import { createDeletionCost, type DeletionCost } from '../instance/deletion-cost.ts'
import { countOutbox } from '../jobs/count-outbox.ts'
import type { Jobs } from '../jobs/jobs.ts'
import { createMetricsWatcher } from '../jobs/metrics-watcher.ts'
import { createSystemEvents, type SystemEvents } from '../jobs/system-events.ts'
import type { FileEvents } from '../media/file-events.ts'
import type { Network } from './network.ts'

/** What is told of this server while it runs. */
export interface Telemetry {
  readonly metrics: Metrics
  /** Undefined when nobody is to be told. */
  readonly events: SystemEvents | undefined
  /** Lets go of the events that could not be told within `graceMs`. */
  close(graceMs: number): Promise<void>
}

/** `jobs` and `cacheBytes` are asked when somebody reads the metrics. */
export function wireTelemetry(
  config: Config,
  network: Network,
  log: Log,
  sources: { jobs(): Jobs; cacheBytes(): Promise<Readonly<Record<StoredKind, number>>> },
): Telemetry {
  const { instance_id = '', workload_name = '' } = config.instance
  const metrics = createMetrics({
    build: { api: API_VERSION, version: config.version, instance: instance_id, group: workload_name },
    jobs: () => sources.jobs().counts,
    outbox: async () => countOutbox(sources.jobs().deliveries),
    cacheBytes: sources.cacheBytes,
  })
  const webhook = systemWebhook(config, network, log, metrics)
  const events = webhook && createSystemEvents(webhook, Date.now)
  return { metrics, events, close: async (graceMs) => webhook?.close(graceMs) }
}

/** Tells the platform what this instance is worth; undefined outside of platforms, where nobody is asked. */
export function wireDeletionCost(
  config: Config,
  jobs: Jobs,
  { metrics }: Telemetry,
  log: Log,
): DeletionCost | undefined {
  if (Object.keys(config.instance).length === 0) return undefined
  return createDeletionCost({
    uri: config.metadataUri,
    wanted: () => Object.values(jobs.counts).reduce((sum, count) => sum + count, 0),
    onRequest: metrics.onMetadataRequest,
    onCost: metrics.onDeletionCost,
    now: Date.now,
    log,
  })
}

/** Tells metrics and operator of every job. */
export function watchJobs(jobs: Jobs, { metrics, events }: Telemetry): void {
  jobs.watch(createMetricsWatcher(metrics, Date.now))
  if (events) jobs.watch(events.watcher)
}

/** Tells metrics and operator of models that come and go. */
export const fileEvents = ({ metrics, events }: Telemetry): FileEvents => ({
  downloaded(file) {
    metrics.onDownload('model', file.bytes)
    events?.downloaded(file)
  },
  deleted(file) {
    metrics.onEviction('model')
    events?.deleted(file)
  },
})

function systemWebhook(config: Config, { trusted }: Network, log: Log, metrics: Metrics): SystemWebhook | undefined {
  const { url, events, metadata } = config.systemEvents
  const { secret, scheduleMs, attempts, timeoutMs } = config.webhooks
  if (url === undefined) return undefined
  return createSystemWebhook({
    url,
    events,
    metadata,
    keys: signingKeys(secret),
    schedule: retrySchedule(scheduleMs, Math.random),
    attempts,
    timeoutMs,
    stream: trusted.stream,
    now: Date.now,
    onDropped: metrics.onSystemEventDropped,
    log,
  })
}
