import { once } from '../base/once.ts'
import type { Config } from '../config.ts'
import { describe, describeNode } from '../graph/describe.ts'
import { fileInputsOf } from '../graph/file-inputs.ts'
import { validate } from '../graph/validate.ts'
import { createImageSource } from '../image/load.ts'
import type { Declarations, ModelFolders } from '../jobs/ports.ts'
import type { ModelInputDeps } from '../media/model-inputs.ts'
import { loadCatalogue } from '../nodes/support/catalogue.ts'
import { absentTypes } from '../nodes/support/not-offered.ts'
import { loadNodes } from '../nodes/support/registry.ts'
import type { ModelFolders as Folders } from '../weights/model-folders.ts'
import { openSafetensors } from '../weights/safetensors.ts'

/** The nodes as the main process knows them: it validates and describes, the engines run. */
export function wireDeclarations(
  { engine: { customNodesDir, inputDir, outputDir, tempDir } }: Config,
  { list }: Folders,
): Declarations & { load(): Promise<unknown>; fileInputs: ModelInputDeps['fileInputs'] } {
  const load = once(async () => loadNodes(await loadCatalogue(list, inputDir), customNodesDir))
  return {
    load,
    async fileInputs(classType) {
      const node = (await load()).get(classType)
      return node && fileInputsOf(node)
    },
    async validate(prompt, { inputs, assumed }, targets) {
      const images = createImageSource({ folders: [inputs, inputDir], output: outputDir, temp: tempDir })
      const host = { ...images, hasImage: async (name: string) => assumed.has(name) || (await images.hasImage(name)) }
      return validate(prompt, await load(), host, absentTypes, targets, assumed)
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

/** What safetensors files say of themselves. */
export const wireMetadata =
  ({ find }: Folders): ModelFolders['metadata'] =>
  async (folder, name) => {
    const path = /\.(safetensors|sft)$/i.test(name) ? await find(folder, name) : undefined
    const { metadata = {} } = path === undefined ? {} : await openSafetensors(path)
    return Object.keys(metadata).length > 0 ? metadata : undefined
  }
