import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Node } from '../../src/workload/graph/node.ts'
import { createImageSource } from '../../src/workload/image/load.ts'
import type { ModelStore } from '../../src/workload/model/ports.ts'
import type { NodeCheck, NodeContext } from '../../src/workload/nodes/support/define.ts'
import { emptyFolder } from './folder.ts'

export type AnyNode = Node<NodeContext, NodeCheck>

const noModels = () => Promise.reject(new Error('these nodes open no model'))

/** A store without models. */
export const emptyStore: ModelStore = {
  version: noModels,
  checkpoint: noModels,
  diffusers: noModels,
  diffusionModel: noModels,
  textEncoder: noModels,
  vae: noModels,
  controlNet: noModels,
  upscaler: noModels,
  lora: noModels,
}

/** A place to run nodes in, with pictures of its own and no models unless some are given. */
export async function nodeRoom(files: Readonly<Record<string, Buffer>> = {}, models: Partial<ModelStore> = {}) {
  const input = join(await emptyFolder(), 'input')
  await mkdir(input)
  for (const [name, bytes] of Object.entries(files)) await writeFile(join(input, name), bytes)
  const images = createImageSource({ folders: [input], output: input, temp: input })
  const context: NodeContext = {
    signal: new AbortController().signal,
    progress: () => undefined,
    models: { ...emptyStore, ...models },
    images,
  }
  return { input, images, context }
}

/** The outputs of a node for these input values. */
export const runNode = async (node: AnyNode, values: Readonly<Record<string, unknown>>): Promise<readonly unknown[]> =>
  (await node.run(values, (await nodeRoom()).context)).values

/** The first output of a node; each test knows what its node gives. */
export const firstOf = async <T>(node: AnyNode, values: Readonly<Record<string, unknown>>) =>
  (await runNode(node, values))[0] as T
