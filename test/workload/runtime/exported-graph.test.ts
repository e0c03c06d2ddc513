import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { probeGraph } from '../../../src/workload/architectures/probe.ts'
import type { ElementType } from '../../../src/workload/onnx/data-type.ts'
import { createGraph } from '../../../src/workload/onnx/graph-builder.ts'
import { createGraphOpener, type ExportedGraph } from '../../../src/workload/runtime/exported-graph.ts'
import { logMelOf } from '../../../src/workload/speech/log-mel.ts'
import { filled, tensor, zeros } from '../../../src/workload/tensor/tensor.ts'
import { emptyFolder } from '../../support/folder.ts'
import { tinyWhisper, toneSpeech } from '../../support/speech.ts'
import { whisperGoldens } from '../../support/whisper-goldens.ts'

const { heard, numbers } = whisperGoldens

async function open(name: string): Promise<ExportedGraph> {
  const opener = await createGraphOpener({ wanted: 'cpu', device: 0, threads: 1 }, probeGraph())
  const graph = await opener.open(name, join(tinyWhisper, `${name}.onnx`))
  onTestFinished(() => graph.release())
  return graph
}

const worst = (seen: readonly number[], wanted: readonly number[]): number => {
  expect(seen).toHaveLength(wanted.length)
  return Math.max(...seen.map((value, i) => Math.abs(value - wanted[i]!)))
}

async function encode() {
  const mel = await logMelOf(toneSpeech(heard[0]!.text), 80, new AbortController().signal)
  const outputs = await (await open('encoder_model')).run({ input_features: mel.window(0, 600) })
  return outputs.last_hidden_state!
}

it('an exported encoder gives what PyTorch gave', async () => {
  const { dims, data } = (await encode()).read()
  expect(dims).toEqual([1, 300, 48])
  const { everyPlace, everyValue, encoded } = numbers
  const seen = [...data].filter((_, i) => Math.floor(i / 48) % everyPlace === 0 && (i % 48) % everyValue === 0)
  expect(worst(seen, encoded)).toBeLessThan(2e-3)
})

it.each(['decoder_model', 'decoder_model_merged'])('%s takes it as it is and gives what PyTorch gave', async (name) => {
  const decoder = await open(name)
  const feeds = {
    input_ids: tensor([1, numbers.prompt.length], Float32Array.from(numbers.prompt)),
    encoder_hidden_states: await encode(),
    use_cache_branch: filled([1], 0),
  }
  const past = [...decoder.inputs.keys()].filter((input) => input.startsWith('past'))
  const known = Object.entries(feeds).filter(([input]) => decoder.inputs.has(input))
  const outputs = await decoder.run(
    { ...Object.fromEntries(known), ...Object.fromEntries(past.map((input) => [input, zeros([1, 2, 0, 24])])) },
    ['logits'],
  )
  expect(Object.keys(outputs)).toEqual(['logits'])
  const { data } = outputs.logits!.read()
  const seen = [...data].filter((_, i) => (i % 576) % numbers.everyLogit === 0)
  expect(worst(seen, numbers.logits)).toBeLessThan(5e-3)
})

it('an exported graph takes what another gave in a type of its own', async () => {
  const opener = await createGraphOpener({ wanted: 'cpu', device: 0, threads: 1 }, probeGraph())
  const folder = await emptyFolder()
  const twice = async (type: ElementType) => {
    const graph = createGraph(`twice-${type}`)
    const x = graph.input('x', ['N'], type)
    graph.output('y', graph.op('Add', [x, x]), ['N'], type)
    const path = join(folder, `${type}.onnx`)
    await writeFile(path, graph.finish().bytes)
    const opened = await opener.open(type, path)
    onTestFinished(() => opened.release())
    return opened
  }
  const [whole, float] = [await twice('int64'), await twice('float32')]
  const { y } = await whole.run({ x: tensor([2], Float32Array.of(3, -1)) })
  expect([...(await float.run({ x: y! })).y!.read().data]).toEqual([12, -4])
  expect([...(await whole.run({ x: y! })).y!.read().data]).toEqual([12, -4])
})

it('an exported graph that is fed what it does not take says so', async () => {
  const encoder = await open('encoder_model')
  await expect(encoder.run({ input_features: zeros([1, 80, 30]) })).rejects.toMatchObject({
    code: 'execution-failed',
    message: expect.stringContaining('encoder_model'),
  })
})
