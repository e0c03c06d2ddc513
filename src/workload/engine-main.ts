import { createLog } from '../common/log.ts'
import { probeGraph } from './architectures/probe.ts'
import { messageOf } from './base/errors.ts'
import type { EngineConfig } from './config.ts'
import { watchBlocking } from './engine/blocking.ts'
import { aliveReporter } from './engine/channel.ts'
import { createMeasureLine } from './engine/measure-line.ts'
import { serveEngine } from './engine/server.ts'
import { createModelStore, loadFamilies } from './families/support/model-store.ts'
import { createFamilyServices } from './families/support/services.ts'
import { createResultCache } from './graph/cache.ts'
import { withFloats } from './graph/with-floats.ts'
import { loadFormats } from './image/format.ts'
import type { Artifact } from './image/images.ts'
import { createImageSource } from './image/load.ts'
import { createSpool } from './image/spool.ts'
import { loadCatalogue } from './nodes/support/catalogue.ts'
import type { NodeContext } from './nodes/support/define.ts'
import { loadNodes } from './nodes/support/registry.ts'
import { valueBytes } from './nodes/support/value-bytes.ts'
import { createRuntime } from './runtime/runtime.ts'
import { createModelFolders } from './weights/model-folders.ts'

async function main(config: EngineConfig): Promise<void> {
  const log = createLog(config.logLevel, { process: 'engine', device: config.device })
  const folders = createModelFolders(config.modelDir, config.modelCacheDir)
  const blocking = watchBlocking(aliveReporter(), () => performance.now())
  const [registry, formats, families, runtime] = await Promise.all([
    loadCatalogue(folders.list, config.inputDir).then((catalogue) => loadNodes(catalogue, config.customNodesDir)),
    loadFormats(),
    loadFamilies(),
    createRuntime({
      wanted: config.provider,
      device: config.device,
      threads: config.threads,
      maxBytes: config.modelCacheBytes,
      maxBatch: config.maxBatch,
      probe: probeGraph(),
      onBlocking: blocking.onBlocking,
      onMeasure: createMeasureLine(),
    }),
  ])
  const models = createModelStore(folders, families, createFamilyServices(runtime, folders, log))

  serveEngine<NodeContext>({
    device: runtime.provider.name,
    registry,
    blockedTime: blocking.total,
    freeMemory: runtime.releaseIdle,
    cache: createResultCache({ maxBytes: config.resultCacheBytes, sizeOf: valueBytes }),
    contextFor: (run, { inputs }) => ({
      ...run,
      models,
      images: createImageSource({
        folders: [inputs, config.inputDir],
        output: config.outputDir,
        temp: config.tempDir,
      }),
    }),
    spoolFor({ prompt, pngInfo, ...job }) {
      const metadata = { prompt: withFloats(prompt, registry), ...pngInfo }
      const spool = createSpool({ formats, ...job, metadata, now: () => new Date() })
      return {
        async save(emitted) {
          const artifact = emitted as Artifact // all that our nodes emit
          const { kind, retention } = artifact
          const files = (await spool.save(artifact)).map((file) => ({ ...file, retention }))
          return { files, texts: kind === 'text' ? [artifact.text] : [], animated: kind === 'animation' }
        },
      }
    },
  })
}

try {
  await main(JSON.parse(process.argv[2]!)) // written by the main process
} catch (error) {
  process.stderr.write(`the engine process cannot start: ${messageOf(error)}\n`)
  process.exit(1)
}
