import { readFileSync } from 'node:fs'
import { describe as about, expect, it } from 'vitest'
import { describe, describeNode } from '../../../src/workload/graph/describe.ts'
import {
  emit,
  hidden,
  link,
  listOf,
  type Node,
  named,
  nodeFactory,
  optional,
  type RunContext,
  socket,
  widget,
} from '../../../src/workload/graph/node.ts'
import { choice, float, int, listed, seed, string } from '../../../src/workload/graph/widget.ts'
import { toyNodes } from '../../support/toy-nodes.ts'

const define = nodeFactory<RunContext, undefined>()
const of = (name: string) => socket<unknown>(name)
const from = (name: string) => link(of(name))
const float01 = (options = {}) => widget(float({ default: 1, min: 0, max: 1, step: 0.01, ...options }))
const unable = (): never => {
  throw new Error('only described')
}

/** The interfaces of upstream's nodes; its five limits of 64 bits are the only integers beyond 2^53. */
const golden = JSON.parse(readFileSync('test/fixtures/goldens/node-interfaces.json', 'utf8')) as {
  readonly nodes: Readonly<Record<string, GoldenNode>>
}
interface GoldenNode {
  readonly schema?: string
  readonly input: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}
const SAMPLERS = goldenChoices('KSampler', 'sampler_name')
const SCHEDULERS = goldenChoices('KSampler', 'scheduler')

function goldenChoices(type: string, name: string): readonly string[] {
  const [choices] = golden.nodes[type]!.input.required![name] as [readonly string[]]
  return choices
}

const redeclared: readonly Node<RunContext, undefined>[] = [
  define({
    type: 'KSampler',
    category: 'sampling',
    title: 'Sample',
    inputs: {
      model: from('MODEL'),
      seed: widget(seed({ control_after_generate: true })),
      steps: widget(int({ default: 20, min: 1, max: 10_000 })),
      cfg: widget(float({ default: 8, min: 0, max: 100, step: 0.1, round: 0.01 })),
      sampler_name: widget(choice(SAMPLERS)),
      scheduler: widget(choice(SCHEDULERS)),
      positive: from('CONDITIONING'),
      negative: from('CONDITIONING'),
      latent_image: from('LATENT'),
      denoise: float01(),
    },
    outputs: [of('LATENT')],
    run: unable,
  }),
  define({
    type: 'SaveImage',
    category: 'image',
    title: 'Save',
    output: true,
    inputs: {
      images: from('IMAGE'),
      filename_prefix: widget(string({ default: 'ComfyUI' })),
      prompt: hidden('PROMPT'),
      extra_pnginfo: hidden('EXTRA_PNGINFO'),
    },
    outputs: [],
    run: () => emit([]),
  }),
  define({
    type: 'GetImageSize',
    category: 'image',
    title: 'Size',
    module: 'comfy_extras.nodes_images',
    inputs: { image: from('IMAGE'), unique_id: hidden('UNIQUE_ID') },
    outputs: [named(of('INT'), 'width'), named(of('INT'), 'height'), named(of('INT'), 'batch_size')],
    run: unable,
  }),
  define({
    type: 'RebatchImages',
    category: 'image/batch',
    title: 'Rebatch',
    module: 'comfy_extras.nodes_rebatch',
    inputIsList: true,
    inputs: { images: from('IMAGE'), batch_size: widget(int({ default: 1, min: 1, max: 4096 })) },
    outputs: [listOf(of('IMAGE'))],
    run: unable,
  }),
  define({
    type: 'ControlNetApply',
    category: 'conditioning/controlnet',
    title: 'Control',
    deprecated: true,
    inputs: {
      conditioning: from('CONDITIONING'),
      control_net: from('CONTROL_NET'),
      image: from('IMAGE'),
      strength: float01({ max: 10 }),
    },
    outputs: [of('CONDITIONING')],
    run: unable,
  }),
  define({
    type: 'ControlNetApplyAdvanced',
    category: 'conditioning/controlnet',
    title: 'Control',
    inputs: {
      positive: from('CONDITIONING'),
      negative: from('CONDITIONING'),
      control_net: from('CONTROL_NET'),
      image: from('IMAGE'),
      strength: float01({ max: 10 }),
      start_percent: float01({ default: 0, step: 0.001 }),
      end_percent: float01({ step: 0.001 }),
      vae: optional(from('VAE')),
    },
    outputs: [named(of('CONDITIONING'), 'positive'), named(of('CONDITIONING'), 'negative')],
    run: unable,
  }),
  define({
    type: 'UpscaleModelLoader',
    category: 'loaders',
    title: 'Load',
    module: 'comfy_extras.nodes_upscale_model',
    inputs: { model_name: widget({ ...listed(async () => [], { x_files: 'upscale_models' }), named: true }) },
    outputs: [of('UPSCALE_MODEL')],
    run: unable,
  }),
]

/** JSON has no bigint: the five upstream limits beyond 2^53 read back as the nearest number, as in the golden file. */
const asRead = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_key, member) => (typeof member === 'bigint' ? Number(member) : member)))

about('the description of a node', () => {
  it.each(redeclared.map((node) => [node.type, node] as const))('%s is what upstream shows', async (type, node) => {
    const { input_order, name, display_name, description, ...shown } = (await describeNode(node)) as Record<
      string,
      unknown
    >
    const { schema: _generation, ...expected } = golden.nodes[type]!
    expect(asRead(shown)).toEqual(expected)
    expect([name, display_name, description]).toEqual([type, node.title, ''])
    expect(input_order).toEqual(
      Object.fromEntries(Object.entries(expected.input).map(([group, inputs]) => [group, Object.keys(inputs)])),
    )
  })

  it('keeps limits of 64 bits exact', async () => {
    expect(await describeNode(redeclared[0]!)).toMatchObject({
      input: { required: { seed: ['INT', { default: 0, min: 0, max: 18446744073709551615n }] } },
    })
  })

  it('has no choices to show for a combo that editors fill themselves', async () => {
    expect(await describeNode(toyNodes.get('Choices')!)).toMatchObject({
      input: { required: {}, optional: { remote: ['COMBO', { remote: { route: '/files' } }] } },
    })
  })

  it('comes with those of all other nodes, experimental ones marked', async () => {
    const registry = new Map(redeclared.map((node) => [node.type, { ...node, experimental: true }]))
    const all = await describe(registry)
    expect(Object.keys(all)).toEqual(redeclared.map(({ type }) => type))
    expect(all.KSampler).toMatchObject({ experimental: true })
  })
})
