import { readFileSync } from 'node:fs'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Prompt } from '../../../src/contracts/prompt.ts'
import { sharedFolder } from '../../support/folder.ts'
import { bundledCheckpoint } from '../../support/models.ts'
import { node } from '../../support/prompts.ts'
import { type Server, startServer } from '../../support/server.ts'

const { prompt: example } = JSON.parse(readFileSync('docs/examples/txt2img.json', 'utf8')) as {
  readonly prompt: Prompt
}
const models = sharedFolder()
let server: Server
beforeAll(async () => {
  for (const folder of ['checkpoints', 'text_encoders']) await mkdir(join(models(), folder))
  await symlink(resolve(bundledCheckpoint), join(models(), 'checkpoints', 'demo.safetensors'))
  await writeFile(join(models(), 'text_encoders', 't5xxl.safetensors'), '')
  server = await startServer({ MODEL_DIR: models() })
})
afterAll(async () => void (await server.stop()))

/** The example with other inputs for some of its nodes. */
const changed = (inputs: Readonly<Record<string, Readonly<Record<string, unknown>>>>): Prompt =>
  Object.fromEntries(
    Object.entries({ ...example, 1: node('CheckpointLoaderSimple', { ckpt_name: 'demo.safetensors' }) }).map(
      ([id, { class_type, inputs: own }]) => [id, node(class_type, { ...own, ...inputs[id] })],
    ),
  )

interface Refusal {
  readonly error: string
  readonly node_errors: Readonly<Record<string, { readonly class_type: string; readonly errors: readonly object[] }>>
}
const refusalOf = async (prompt: Prompt) => {
  const response = await server.post({ prompt })
  return { status: response.status, body: (await response.json()) as Refusal }
}

it.each([
  ['nobody knows', 'NobodyKnowsThis', 'The custom node may not be installed.'],
  [
    'ComfyUI has and this server has not',
    'StyleModelLoader',
    'This server does not offer StyleModelLoader: it needs an image encoder or style network, which this server does not run.',
  ],
])('a node that %s is named, with the reason', async (_who, class_type, reason) => {
  const prompt = { ...changed({}), 8: { ...node(class_type), _meta: { title: 'My node' } } }
  const { status, body } = await refusalOf(prompt)
  const fault = {
    type: 'missing_node_type',
    message: `Node 'My node' not found. ${reason}`,
    details: "Node ID '#8'",
    extra_info: { node_id: '8', class_type, node_title: 'My node' },
  }
  expect(status).toBe(400)
  expect(body.error).toBe(`Node 8 (${class_type}): ${fault.message}`)
  expect(body).toMatchObject({ code: 'invalid-graph', node_errors: { 8: { class_type, errors: [fault] } } })
})

it.each([
  ['sampler', '5', 'sampler_name', 'euler_but_better'],
  ['scheduler', '5', 'scheduler', 'straight'],
  ['checkpoint file', '1', 'ckpt_name', 'mine.safetensors'],
])('an unknown %s is named, as ComfyUI names it', async (_what, id, input, value) => {
  const { status, body } = await refusalOf(changed({ [id]: { [input]: value } }))
  expect(status).toBe(400)
  expect(body.error).toContain(`'${value}' not in`)
  expect(body.node_errors[id]!.errors).toEqual([
    {
      type: 'value_not_in_list',
      message: 'Value not in list',
      details: expect.stringMatching(new RegExp(`^${input}: '${value}' not in (\\[|\\(list of length \\d+\\))`)),
      extra_info: expect.objectContaining({ input_name: input, received_value: value }),
    },
  ])
})

it('a type of model that ComfyUI knows and this server does not run fails at its loader, which says so', async () => {
  const loader = node('CLIPLoader', { clip_name: 't5xxl.safetensors', type: 'sd3', device: 'default' })
  const { status, body } = await refusalOf({ ...changed({ 2: { clip: ['8', 0] } }), 8: loader })
  expect(status).toBe(500)
  expect(body).toMatchObject({ code: 'execution-failed', node_id: '8', node_type: 'CLIPLoader' })
  expect(body.error).toContain('text encoders of type sd3 from 1 file are not supported')
})
