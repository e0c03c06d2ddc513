import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Prompt, PromptAnswer } from '../../src/contracts/prompt.ts'
import { serveFile, startSite } from '../support/file-site.ts'
import { bundledCheckpoint } from '../support/models.ts'
import { type Server, startServer } from '../support/server.ts'

const example = JSON.parse(readFileSync('docs/examples/txt2img.json', 'utf8')) as { readonly prompt: Prompt }
const checkpoint = readFileSync(bundledCheckpoint)
let cacheDir: string
let server: Server
beforeAll(async () => {
  cacheDir = await mkdtemp(join(tmpdir(), 'easel-'))
  // Its folder of models is empty.
  server = await startServer({ CACHE_DIR: cacheDir, OUTBOUND_ALLOW: '127.0.0.0/8', JOB_STORE: 'memory' })
})
afterAll(async () => {
  await server.stop()
  await rm(cacheDir, { recursive: true })
})

/** The example, drawn in two steps with another checkpoint. */
function promptWith(ckpt_name: string): Prompt {
  const prompt = structuredClone(example.prompt)
  for (const { inputs } of Object.values(prompt)) {
    if (inputs.ckpt_name !== undefined) inputs.ckpt_name = ckpt_name
    if (inputs.steps !== undefined) inputs.steps = 2
  }
  return prompt
}
const post = async (ckpt_name: string) => {
  const response = await server.post({ prompt: promptWith(ckpt_name) })
  return { status: response.status, body: (await response.json()) as PromptAnswer & { code: string; location: string } }
}
const nameIn = ({ prompt }: PromptAnswer) =>
  String(Object.values(prompt).find(({ inputs }) => inputs.ckpt_name !== undefined)!.inputs.ckpt_name)

it('draws with a checkpoint that the prompt names by URL, and fetches it once', async () => {
  const site = await startSite(serveFile(checkpoint))
  const [first, second] = [await post(`${site.origin}/a.safetensors`), await post(`${site.origin}/a.safetensors`)]
  expect([first.status, second.status, site.asked.length]).toEqual([200, 200, 1])
  expect(nameIn(first.body)).toMatch(/^[\w-]{32}\.safetensors$/)
  expect(second.body.images).toEqual(first.body.images)
  // The name alone opens nothing: who may have the file is decided by its URL.
  expect(await post(nameIn(first.body))).toMatchObject({ status: 400, body: { code: 'invalid-graph' } })
})

it('tells which model did not come and lives on, however the other side fails', async () => {
  const site = await startSite(({ url }, response) => {
    if (url === '/none.safetensors') return void response.writeHead(404).end()
    response.writeHead(200, { 'content-length': checkpoint.length }).write(checkpoint.subarray(0, 10_000), () => {
      response.destroy()
    })
  })
  for (const name of ['none', 'broken']) {
    const { status, body } = await post(`${site.origin}/${name}.safetensors`)
    expect([status, body.code, body.location]).toEqual([400, 'model-unavailable', 'prompt.1.inputs.ckpt_name'])
  }
  expect((await fetch(`${server.url}/health`)).status).toBe(200)
})
