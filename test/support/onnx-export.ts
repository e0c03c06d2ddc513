import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { decoderGraph, encoderGraph } from '../../src/workload/architectures/autoencoder-kl.ts'
import { clipTextGraph } from '../../src/workload/architectures/clip-text.ts'
import type { LoweringFor } from '../../src/workload/architectures/lowering.ts'
import { cpuLowering } from '../../src/workload/architectures/lowering-cpu.ts'
import { textEncoderLowering } from '../../src/workload/architectures/lowerings.ts'
import { timestepEmbedding } from '../../src/workload/architectures/timestep-embedding.ts'
import { unetGraph } from '../../src/workload/architectures/unet.ts'
import { dataType, type ElementType } from '../../src/workload/onnx/data-type.ts'
import type { Axis, GraphBuilder, GraphModel, Wire } from '../../src/workload/onnx/graph-builder.ts'
import { clipTextView } from '../../src/workload/weights/checkpoint-layout.ts'
import { openSafetensors } from '../../src/workload/weights/safetensors.ts'
import { viewOf } from '../../src/workload/weights/weight-view.ts'
import type { Weights } from './random-checkpoints.ts'
import { writeSafetensors } from './safetensors.ts'
import { type TinyKind, type TinyWeights, tinyModels } from './tiny-checkpoints.ts'

type Inputs = Readonly<Record<string, (graph: GraphBuilder, axes: readonly Axis[]) => Wire>>
type Outputs = Readonly<Record<string, readonly string[]>>

/** `lower` for graphs that have `inputs` in place of their own and each output under other names, or not at all. */
function exporting(lower: LoweringFor, inputs: Inputs, outputs: Outputs): LoweringFor {
  return (name, view) => {
    const lowering = lower(name, view)
    const { graph } = lowering
    const renamed: GraphBuilder = {
      ...graph,
      input: (wire, axes) => inputs[wire]!(graph, axes),
      output(wire, of, axes) {
        for (const other of outputs[wire] ?? []) graph.output(other, of, axes)
      },
    }
    return { ...lowering, graph: renamed }
  }
}

const cast = (graph: GraphBuilder, x: Wire, to: ElementType) =>
  graph.op('Cast', [x], { attributes: { to: dataType[to] } })
const ints = (graph: GraphBuilder, ...values: readonly number[]) =>
  graph.constant([values.length], BigInt64Array.from(values, BigInt))
const plain =
  (name: string) =>
  (graph: GraphBuilder, axes: readonly Axis[]): Wire =>
    graph.input(name, axes)

/** A UNet as Optimum exports it: a whole timestep for all rows, and SDXL's numbers as they are. */
const unetInputs = (pooledWidth: number): Inputs => ({
  x: plain('sample'),
  timesteps: (graph) =>
    graph.op('Reshape', [cast(graph, graph.input('timestep', [], 'int64'), 'float32'), ints(graph, 1)]),
  context: plain('encoder_hidden_states'),
  y(graph) {
    const numbers = graph.op('Reshape', [graph.input('time_ids', ['N', 6]), ints(graph, -1)])
    const waves = graph.op('Reshape', [timestepEmbedding(graph, numbers, 256), ints(graph, -1, 6 * 256)])
    return graph.op('Concat', [graph.input('text_embeds', ['N', pooledWidth]), waves], { attributes: { axis: 1 } })
  },
})

const END = 49_407

/** A text transformer as Optimum exports it: `stop` is the layer, from 0, that every hidden state is given as. */
function textInputs(layers: number, stop: number): Inputs {
  const ones = (graph: GraphBuilder) => graph.constant([1, 1, 1], Float32Array.of(1))
  let ids: Wire | undefined
  return {
    ids(graph, axes) {
      ids = graph.input('input_ids', axes, 'int32')
      return cast(graph, ids, 'float32')
    },
    vectors: (graph) => graph.constant([1, 1, 1], Float32Array.of(0)),
    kept: ones,
    layer: (graph) =>
      graph.constant(
        [1, layers],
        Float32Array.from({ length: layers }, (_, i) => Number(i === stop)),
      ),
    end(graph) {
      const isEnd = graph.op('Equal', [cast(graph, ids!, 'int64'), ints(graph, END)])
      const place = graph.op('ArgMax', [cast(graph, isEnd, 'int32')], { attributes: { axis: 1, keepdims: 0 } })
      return graph.op('OneHot', [place, ints(graph, 77), graph.constant([2], Float32Array.of(0, 1))])
    },
  }
}

/** Writes a network's weights and, beside them, the model that reads them as its external data. */
async function exported(folder: string, weights: Weights, build: (path: string) => Promise<GraphModel>): Promise<void> {
  await mkdir(folder, { recursive: true })
  const { bytes } = await build(await writeSafetensors(join(folder, 'model.onnx_data'), weights))
  await writeFile(join(folder, 'model.onnx'), bytes)
}

/** Writes a tiny model as a folder of ONNX networks. */
export async function writeOnnxFolder(root: string, kind: TinyKind, weights: TinyWeights): Promise<void> {
  const { text, text2 } = { text2: undefined, ...tinyModels[kind] }
  const viewIn = async (path: string) => viewOf(await openSafetensors(path), '')
  const headsOf = kind === 'sd1' ? () => 8 : (channels: number) => Math.max(1, Math.floor(channels / 64))
  const pooledWidth = text2?.projected ?? 0
  await exported(join(root, 'unet'), weights.unet, async (path) =>
    unetGraph(await viewIn(path), exporting(cpuLowering, unetInputs(pooledWidth), { output: ['out_sample'] }), headsOf),
  )
  await exported(join(root, 'vae_decoder'), weights.vae, async (path) =>
    decoderGraph(
      await viewIn(path),
      exporting(cpuLowering, { latents: plain('latent_sample') }, { decoded: ['sample'] }),
    ),
  )
  await exported(join(root, 'vae_encoder'), weights.vae, async (path) =>
    encoderGraph(
      await viewIn(path),
      exporting(cpuLowering, { pixels: plain('sample') }, { moments: ['latent_parameters'] }),
    ),
  )
  const textFolder = (name: string, of: Weights, { layers }: { readonly layers: number }, size: 'l' | 'g' | 'h') =>
    exported(join(root, name), of, async (path) => {
      const states = Array.from({ length: layers + 1 }, (_, i) => `hidden_states.${i}`)
      const stop = size === 'l' && kind === 'sd1' ? layers - 1 : layers - 2
      const view = clipTextView(await openSafetensors(path), '')!
      const outputs =
        kind === 'sdxl'
          ? { hidden: states, pooled: ['pooler_output'], projected: ['text_embeds'] }
          : { normed: ['last_hidden_state'], pooled: ['pooler_output'] }
      const heads = Math.max(1, view.get('final_layer_norm.weight').dims[0]! / 64)
      return clipTextGraph(view, exporting(textEncoderLowering, textInputs(layers, stop), outputs), {
        heads,
        activation: size === 'l' ? 'quickGelu' : 'gelu',
      })
    })
  await textFolder('text_encoder', weights.text, text, kind === 'sd2' ? 'h' : 'l')
  const config = { hidden_act: kind === 'sd2' ? 'gelu' : 'quick_gelu' }
  await writeFile(join(root, 'text_encoder/config.json'), JSON.stringify(config))
  if (weights.text2) await textFolder('text_encoder_2', weights.text2, text2!, 'g')
}
