import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import type { Prompt } from '../../src/contracts/prompt.ts'
// biome-ignore lint/correctness/useImportExtensions: it takes the file with the types for the program
import { watchMemory } from '../../tools/bench/resident-memory.mjs'
import { node, picture, saving } from '../support/prompts.ts'
import { receiver } from '../support/receiver.ts'
import { type Server, startServer } from '../support/server.ts'

const SIDE = 2048
/** Of one picture of noise, which PNG cannot make smaller. */
const MEGABYTES = (SIDE * SIDE * 3) / 2 ** 20

/** Saves pictures that need not be in memory together; without compressing them, which would take long. */
const pictures = (count: number) => ({
  prompt: Object.fromEntries(
    Array.from({ length: count }, (_, i) => [
      [`image${i}`, picture({ width: SIDE, height: SIDE })],
      [`save${i}`, node('TestSave', { images: [`image${i}`, 0], filename_prefix: 'noise' })],
    ]).flat(),
  ) satisfies Prompt,
  convert_output: { format: 'png', options: { compressionLevel: 0 } },
})

/** A server that has drawn and told before, and so has loaded what it needs for that. */
async function usedServer(): Promise<Server> {
  const server = await startServer({ OUTBOUND_ALLOW: '127.0.0.1', JOB_STORE: 'memory', RESULT_CACHE_MB: '0' })
  onTestFinished(async () => void (await server.stop('SIGKILL')))
  const { url, calls } = await receiver()
  expect((await server.post({ prompt: saving(picture()) })).status).toBe(200)
  expect((await server.post({ prompt: saving(picture()), webhook_v2: url })).status).toBe(202)
  await expect.poll(() => calls.map(({ status }) => status)).toEqual([200])
  return server
}

it('holds neither an answer nor the pictures that it has saved already', async () => {
  const server = await usedServer()
  const memory = watchMemory(server.processId)
  const response = await server.post(pictures(8))
  let bytes = 0
  for await (const chunk of response.body!) {
    bytes += chunk.length
  }
  const { main, both } = memory.end()
  const sent = (bytes * 0.75) / 2 ** 20
  expect(sent).toBeGreaterThan(8 * MEGABYTES)
  expect(main.peak - main.before).toBeLessThan(60)
  expect(both.peak - both.before).toBeLessThan(3 * sent + 100)
})

it('holds no picture while a receiver reads slowly', async () => {
  const server = await usedServer()
  let taken = 0
  const slow = createServer((request) => {
    request.on('data', (part: Buffer) => {
      taken += part.length
      request.pause()
      setTimeout(() => request.resume(), 20)
    })
  }).listen(0, '127.0.0.1')
  onTestFinished(() => {
    slow.close()
    slow.closeAllConnections()
  })
  await once(slow, 'listening')
  const { port } = slow.address() as AddressInfo
  const memory = watchMemory(server.processId)
  await server.post({ ...pictures(4), webhook_v2: `http://127.0.0.1:${port}` })
  await expect.poll(() => taken, { timeout: 20_000 }).toBeGreaterThan(4e6)
  const { main } = memory.end()
  expect(main.peak - main.before).toBeLessThan(40)
})
