// Opens models as the engine process does, for measurements of single networks; needs `npm run build`.
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stderr } from 'node:process'
import { probeGraph } from '../../dist/workload/architectures/probe.js'
import { createModelStore, loadFamilies } from '../../dist/workload/families/support/model-store.js'
import { createFamilyServices } from '../../dist/workload/families/support/services.js'
import { createRuntime } from '../../dist/workload/runtime/runtime.js'
import { createModelFolders } from '../../dist/workload/weights/model-folders.js'

/** A temporary folder with these `folders` of models, and how to remove it. */
export async function temporaryModels(...folders) {
  const root = await mkdtemp(join(tmpdir(), 'easel-models-'))
  for (const folder of folders) await mkdir(join(root, folder))
  return { root, remove: () => rm(root, { recursive: true }) }
}

/** The models below `root` on a CPU with two threads; nothing is evicted, and warnings go to the terminal. */
export async function openStore(root) {
  const runtime = await createRuntime({
    wanted: 'cpu',
    device: 0,
    threads: 2,
    maxBytes: 0,
    maxBatch: 8,
    probe: probeGraph(),
  })
  const folders = createModelFolders(root)
  const warn = (facts, message) => stderr.write(`${message} ${JSON.stringify(facts)}\n`)
  return createModelStore(folders, await loadFamilies(), createFamilyServices(runtime, folders, { warn }))
}
