import { extname, join } from 'node:path'
import { createLog } from '../common/log.ts'
import { messageOf } from './base/errors.ts'
import { once } from './base/once.ts'
import { type Config, readConfig } from './config.ts'
import { createEngines } from './engine/dispatcher.ts'
import { startEngine } from './engine/host.ts'
import { createApp } from './http/app.ts'
import { createClients } from './http/comfy/clients.ts'
import { createComfyDesk } from './http/comfy/comfy-desk.ts'
import { serve } from './http/serve.ts'
import { createUpgradeHandler } from './http/upgrade.ts'
import { encodePreview } from './image/encode-preview.ts'
import { createJobs } from './jobs/create-jobs.ts'
import type { Jobs } from './jobs/jobs.ts'
import { createPictureFiles } from './jobs/picture-files.ts'
import { readWarmUp } from './jobs/read-warm-up.ts'
import { createSeal } from './jobs/seal.ts'
import { removeStaleFolders } from './jobs/stale-folders.ts'
import { createModelFolders } from './weights/model-folders.ts'
import { wireDeclarations, wireMetadata } from './wiring/declarations.ts'
import { wireDeliveries } from './wiring/deliveries.ts'
import { inTurn, wireMedia } from './wiring/inputs.ts'
import { wireModels } from './wiring/models.ts'
import { wireNetwork } from './wiring/network.ts'
import { wireQueue } from './wiring/queue.ts'
import { wireSpeech } from './wiring/speech.ts'
import { fileEvents, watchJobs, wireDeletionCost, wireTelemetry } from './wiring/telemetry.ts'

/** How long idle connections may keep a server open that has nothing left to do. */
const CLOSE_MS = 1000

/** How long the operator's receiver may take to hear of the last events. */
const LAST_EVENTS_MS = 2000

const say = (line: string): void => void process.stdout.write(`${line}\n`)
const seconds = (from: number, to: number): string => `${((to - from) / 1000).toFixed(1)} s`

/** Listens first, for that takes a moment and loading takes longer, then starts the engines and warms up. */
async function main(config: Config): Promise<void> {
  const began = performance.now()
  const log = createLog(config.logLevel)
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'unhandled rejection'))

  const network = wireNetwork(config)
  const telemetry = wireTelemetry(config, network, log, {
    jobs: () => jobs,
    cacheBytes: async () => ({ model: await models.bytes(), media: media.bytes }),
  })
  const folders = createModelFolders(config.engine.modelDir)
  const declarations = wireDeclarations(config, folders)
  const engines = createEngines(config.maxConcurrentPrompts, (onState) =>
    config.engines.map((engine) =>
      startEngine({
        ...{ entry: engineEntry, config: engine, stallMs: config.stallMs, log, encodePreview, onState },
        onMeasure: telemetry.metrics.networksOfEngine(),
      }),
    ),
  )
  const media = wireMedia(config, network, telemetry, log)
  const models = await wireModels(config, network, {
    fileInputs: declarations.fileInputs,
    events: fileEvents(telemetry),
    log,
    say,
  })
  const jobs: Jobs = createJobs({
    ...config,
    engines,
    declarations,
    ...wireDeliveries(config, network, telemetry, log),
    queue: wireQueue(config, log),
    outbound: network.outbound,
    seal: createSeal(config.credentialsKey, join(config.queue.dataDir, 'credentials.key'), !config.queue.redisUrl),
    places: config.maxConcurrentPrompts * config.engines.length,
    log,
    takeInputs: inTurn(media.takeInputs, models.takeInputs),
    now: Date.now,
  })
  const clients = createClients(config.inputMaxBytes)
  const desk = createComfyDesk(clients, Date.now)
  jobs.watch(desk.watcher)
  watchJobs(jobs, telemetry)
  const deletionCost = wireDeletionCost(config, jobs, telemetry, log)
  const files = createPictureFiles({ ...config.engine, spool: config.spool, maxBytes: config.inputMaxBytes })
  const speech = wireSpeech(config, network, telemetry.metrics, log)
  const app = createApp({
    ...config,
    jobs,
    desk,
    files,
    declarations,
    metrics: telemetry.metrics,
    downloads: models.downloads,
    transcriptions: speech.transcriptions,
    models: { ...folders, metadata: wireMetadata(folders) },
    log,
  })
  const server = await serve(app, createUpgradeHandler(clients, config.apiKey), config.host, config.port)
  say(`listening on http://${printable(config.host)}:${server.port}`)

  const ending = new AbortController()
  const stop = once(async () => {
    ending.abort()
    server.announceEnd()
    await Promise.all([jobs.drain(config.shutdownGraceMs), speech.transcriptions.drain(config.shutdownGraceMs)])
    await Promise.all([models.close(), telemetry.close(LAST_EVENTS_MS), deletionCost?.close()])
    clients.close()
    await server.drain(CLOSE_MS)
    await Promise.all([engines.close(), speech.close()])
    process.exit(0)
  })
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => {
      if (ending.signal.aborted) process.exit(1) // asked twice, so at once
      void stop()
    })

  engines.start()
  await Promise.all([
    declarations.load(),
    telemetry.metrics.load(),
    removeStaleFolders(config.spool, Date.now()),
    engines.whenReady(),
    models.bringFirst(ending.signal).catch(unlessAborted(ending.signal)),
  ])
  const loaded = performance.now()
  const warmed = await warmUp(jobs, config, ending.signal).catch((error: unknown) => {
    if (ending.signal.aborted) return undefined
    log.error({ err: error, file: config.warmUp?.file }, 'the warm-up failed')
    say(`not ready: the warm-up with ${config.warmUp?.file} failed: ${messageOf(error)}`)
    return undefined
  })
  if (warmed === undefined || ending.signal.aborted) return
  jobs.open()
  deletionCost?.open()
  const now = performance.now()
  say(`ready in ${seconds(began, now)}${warmed ? ` (of which warm-up ${seconds(loaded, now)})` : ''}`)
  await models.bringRest(ending.signal).catch(unlessAborted(ending.signal))
}

/** Lets errors pass that only say that `signal` has aborted. */
const unlessAborted = (signal: AbortSignal) => (error: unknown) => {
  if (!signal.aborted) throw error
}

/** False when there is nothing to warm up with. */
async function warmUp(jobs: Jobs, config: Config, signal: AbortSignal): Promise<boolean> {
  const body = config.warmUp && (await readWarmUp(config.warmUp))
  if (body === undefined) return false
  await jobs.warmUp(body, signal)
  return true
}

/** A host as it stands in a URL that can be opened: `::` and `0.0.0.0` are every address, also this machine's own. */
const printable = (host: string): string =>
  host === '::' || host === '0.0.0.0' ? 'localhost' : host.includes(':') ? `[${host}]` : host

// Beside this file, as .ts from source and as .js from dist.
const engineEntry = new URL(`./engine-main${extname(import.meta.filename)}`, import.meta.url)

try {
  await main(readConfig())
} catch (error) {
  process.stderr.write(`easel cannot start: ${messageOf(error)}\n`)
  process.exit(1)
}
