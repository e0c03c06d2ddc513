import { lookup } from 'node:dns'
import { extname } from 'node:path'
import { messageOf } from './base/errors.ts'
import { createLog } from './base/log.ts'
import { once } from './base/once.ts'
import { type Config, readConfig } from './config.ts'
import { httpUploadTarget } from './delivery/targets/http-upload.ts'
import { s3Target } from './delivery/targets/s3.ts'
import { createUploads } from './delivery/uploads.ts'
import { createEngines } from './engine/dispatcher.ts'
import { startEngine } from './engine/host.ts'
import { describe, describeNode } from './graph/describe.ts'
import { validate } from './graph/validate.ts'
import { createApp } from './http/app.ts'
import { createClients } from './http/comfy/clients.ts'
import { createComfyDesk } from './http/comfy/comfy-desk.ts'
import { serve } from './http/serve.ts'
import { createUpgradeHandler } from './http/upgrade.ts'
import { createImageSource } from './image/load.ts'
import { createJobs, type Jobs } from './jobs/create-jobs.ts'
import { createPictureFiles } from './jobs/picture-files.ts'
import type { Declarations, ModelFolders } from './jobs/ports.ts'
import { readWarmUp } from './jobs/read-warm-up.ts'
import { removeStaleFolders } from './jobs/stale-folders.ts'
import { addressRules } from './media/address-rules.ts'
import { createOutbound } from './media/outbound.ts'
import { storeMedia } from './media/store-media.ts'
import { loadCatalogue } from './nodes/support/catalogue.ts'
import { absentTypes } from './nodes/support/not-offered.ts'
import { loadNodes } from './nodes/support/registry.ts'
import { createModelFolders } from './weights/model-folders.ts'
import { openSafetensors } from './weights/safetensors.ts'

/** How long idle connections may keep a server open that has nothing left to do. */
const CLOSE_MS = 1000

const say = (line: string): void => void process.stdout.write(`${line}\n`)
const seconds = (from: number, to: number): string => `${((to - from) / 1000).toFixed(1)} s`

/** Listens first, for that takes a moment and loading takes longer, then starts the engines and warms up. */
async function main(config: Config): Promise<void> {
  const began = performance.now()
  const log = createLog(config.logLevel)
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'unhandled rejection'))

  const folders = createModelFolders(config.engine.modelDir)
  const declarations = declare(config, folders.list)
  const engines = createEngines(config.maxConcurrentPrompts, (onState) =>
    config.engines.map((engine) =>
      startEngine({ entry: engineEntry, config: engine, stallMs: config.stallMs, log, onState }),
    ),
  )
  const { inputDir } = config.engine
  const outbound = createOutbound(addressRules(config.outboundAllow), lookup)
  const jobs = createJobs({
    ...config,
    engines,
    declarations,
    uploads: createUploads(
      { s3: s3Target(config.s3), http: httpUploadTarget(outbound.send) },
      { attempts: config.uploadAttempts, timeoutMs: config.uploadTimeoutMs, random: Math.random },
    ),
    log,
    storeMedia: (prompt, folder) => storeMedia(prompt, { folder, inputDir, maxBytes: config.inputMaxBytes, outbound }),
    now: Date.now,
  })
  const clients = createClients(config.inputMaxBytes)
  const desk = createComfyDesk(clients, Date.now)
  jobs.watch(desk.watcher)
  const files = createPictureFiles({ ...config.engine, spool: config.spool, maxBytes: config.inputMaxBytes })
  const app = createApp({
    ...config,
    jobs,
    desk,
    files,
    declarations,
    models: { ...folders, metadata: metadataIn(folders) },
    log,
  })
  const server = await serve(app, createUpgradeHandler(clients, config.apiKey), config.host, config.port)
  say(`listening on http://${printable(config.host)}:${server.port}`)

  const ending = new AbortController()
  const stop = once(async () => {
    ending.abort()
    server.announceEnd()
    await jobs.drain(config.shutdownGraceMs)
    clients.close()
    await server.drain(CLOSE_MS)
    await engines.close()
    process.exit(0)
  })
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => {
      if (ending.signal.aborted) process.exit(1) // asked twice, so at once
      void stop()
    })

  engines.start()
  await Promise.all([declarations.load(), removeStaleFolders(config.spool, Date.now()), engines.whenReady()])
  const loaded = performance.now()
  const warmed = await warmUp(jobs, config, ending.signal).catch((error: unknown) => {
    if (ending.signal.aborted) return undefined
    log.error({ err: error, file: config.warmUp.file }, 'the warm-up failed')
    say(`not ready: the warm-up with ${config.warmUp.file} failed: ${messageOf(error)}`)
    return undefined
  })
  if (warmed === undefined || ending.signal.aborted) return
  jobs.open()
  const now = performance.now()
  say(`ready in ${seconds(began, now)}${warmed ? ` (of which warm-up ${seconds(loaded, now)})` : ''}`)
}

/** False when there is nothing to warm up with. */
async function warmUp(jobs: Jobs, config: Config, signal: AbortSignal): Promise<boolean> {
  const body = await readWarmUp(config.warmUp)
  if (body === undefined) return false
  await jobs.warmUp(body, signal)
  return true
}

/** What safetensors files say of themselves. */
const metadataIn =
  ({ find }: ReturnType<typeof createModelFolders>): ModelFolders['metadata'] =>
  async (folder, name) => {
    const path = /\.(safetensors|sft)$/i.test(name) ? await find(folder, name) : undefined
    const { metadata = {} } = path === undefined ? {} : await openSafetensors(path)
    return Object.keys(metadata).length > 0 ? metadata : undefined
  }

/** The nodes as this process knows them: it validates and describes, the engines run. */
function declare(
  { engine: { customNodesDir, inputDir, outputDir, tempDir } }: Config,
  files: (folder: string) => Promise<readonly string[]>,
): Declarations & { load(): Promise<unknown> } {
  const load = once(async () => loadNodes(await loadCatalogue(files, inputDir), customNodesDir))
  return {
    load,
    async validate(prompt, inputs, targets) {
      const images = createImageSource({ folders: [inputs, inputDir], output: outputDir, temp: tempDir })
      return validate(prompt, await load(), images, absentTypes, targets)
    },
    async describe() {
      return describe(await load())
    },
    async describeOne(classType) {
      const node = (await load()).get(classType)
      return node && describeNode(node)
    },
  }
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
