import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import sharp from 'sharp'
import { expect, it, onTestFinished } from 'vitest'
import type { Prompt } from '../../src/contracts/prompt.ts'
import { listen } from '../support/comfy.ts'
import { startServer } from '../support/server.ts'

it('shows a picture while it is drawn: on the socket of who sent it, and among the events of its job', async () => {
  const server = await startServer({ MODEL_DIR: resolve('models') })
  onTestFinished(async () => void (await server.stop()))
  const { prompt } = JSON.parse(readFileSync('docs/examples/txt2img.json', 'utf8')) as { prompt: Prompt }
  Object.assign(prompt['5']!.inputs, { steps: 24, seed: 4 })

  const me = await listen(server)
  const frames: Buffer[] = []
  me.socket.on('message', (data: Buffer, isBinary) => isBinary && frames.push(data))
  const { prompt_id } = (await (
    await server.post({ prompt, client_id: me.id, extra_data: { preview_method: 'auto' } })
  ).json()) as { prompt_id: string }
  const events = await (await fetch(`${server.url}/jobs/${prompt_id}/events`)).text()
  await me.over(prompt_id)
  await me.close()

  const shown = events.split('\n\n').filter((block) => block.includes('event: preview\n'))
  expect(shown.length).toBeGreaterThan(0)
  const { image, ...data } = JSON.parse(/^data: (.+)$/m.exec(shown[0]!)![1]!)
  expect(data).toMatchObject({ prompt_id, node: '5', max: 24, mime_type: 'image/jpeg' })
  expect(frames.length).toBeGreaterThan(0)
  expect([frames[0]!.readUInt32BE(0), frames[0]!.readUInt32BE(4)]).toEqual([1, 1])
  for (const jpeg of [Buffer.from(image, 'base64'), frames.at(-1)!.subarray(8)])
    expect(await sharp(jpeg).metadata()).toMatchObject({ format: 'jpeg', width: 512, height: 512 })
})
