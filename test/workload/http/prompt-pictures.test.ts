import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import sharp from 'sharp'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { promptAnswerSchema } from '../../../src/contracts/prompt.ts'
import { node, picture, saving } from '../../support/prompts.ts'
import { type Server, startServer } from '../../support/server.ts'

let server: Server
beforeAll(async () => {
  server = await startServer({ OUTBOUND_ALLOW: '127.0.0.2', UPLOAD_ATTEMPTS: '1', JOB_RETENTION_S: '0' })
})
afterAll(async () => void (await server.stop()))

const answerTo = async (body: unknown) => promptAnswerSchema.parse(await (await server.post(body)).json())
const faultOf = async (body: unknown) => (await (await server.post(body)).json()) as Record<string, unknown>

it('takes pictures in base64 and answers with their names', async () => {
  const png = await sharp({ create: { width: 4, height: 4, channels: 3, background: 'red' } })
    .png()
    .toBuffer()
  const image = png.toString('base64')
  const load = { load: node('LoadImage', { image }) }
  const { images, prompt } = await answerTo({
    prompt: { ...load, out: node('TestSave', { images: ['load', 0], filename_prefix: 'x' }) },
  })
  expect(prompt.load!.inputs.image).toMatch(/^[0-9a-f]+\.png$/)
  const raw = await sharp(Buffer.from(images[0]!, 'base64')).raw().toBuffer()
  expect([...raw.subarray(0, 3)]).toEqual([255, 0, 0])
  expect(createHash('sha256').update(png).digest('hex')).toContain(String(prompt.load!.inputs.image).slice(0, 32))
})

it('takes pictures by URL from addresses that are allowed, and names the input whose URL is not', async () => {
  const png = await sharp({ create: { width: 4, height: 4, channels: 3, background: 'red' } })
    .png()
    .toBuffer()
  const site = createServer((_, response) => response.end(png)).listen(0, '0.0.0.0')
  await once(site, 'listening')
  onTestFinished(() => void site.close())
  const { port } = site.address() as AddressInfo // a TCP server has no other kind
  const drawing = (host: string) => ({
    load: node('LoadImage', { image: `http://${host}:${port}/red.png` }),
    out: node('TestSave', { images: ['load', 0], filename_prefix: 'x' }),
  })
  const { images } = await answerTo({ prompt: drawing('127.0.0.2') })
  const raw = await sharp(Buffer.from(images[0]!, 'base64')).raw().toBuffer()
  expect([...raw.subarray(0, 3)]).toEqual([255, 0, 0])

  const refused = await server.post({ prompt: drawing('127.0.0.1') })
  expect(refused.status).toBe(400)
  expect(await refused.json()).toMatchObject({ code: 'url-not-allowed', location: 'prompt.load.inputs.image' })
})

it('uploads pictures before it answers, and answers with their addresses', async () => {
  const bodies: Record<string, Buffer> = {}
  const site = createServer((request, response) => {
    void buffer(request).then((body) => {
      bodies[request.url!] = body
      response.end()
    })
  }).listen(0, '0.0.0.0')
  await once(site, 'listening')
  onTestFinished(() => void site.close())
  const url_prefix = `http://127.0.0.2:${(site.address() as AddressInfo).port}/out`
  const body = { prompt: saving(picture()), id: 'sent', http_upload: { url_prefix } }
  const answer = await answerTo(body)
  expect(answer.images).toEqual([`${url_prefix}/${answer.filenames[0]}`])
  expect(answer).toMatchObject({ http_upload: { url_prefix, async: false } })
  expect((await sharp(bodies[`/out/${answer.filenames[0]}`]!).metadata()).format).toBe('png')
  await expect.poll(server.spooled).toEqual([])

  const faultAt = (prefix: string) => faultOf({ ...body, id: 'lost', http_upload: { url_prefix: prefix } })
  expect(await faultAt('http://127.0.0.2:9/')).toMatchObject({ code: 'upload-failed', location: 'http_upload' })
  expect(await faultAt('http://127.0.0.1:9/')).toMatchObject({ code: 'url-not-allowed' })
})
