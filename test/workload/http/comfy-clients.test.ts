import { randomUUID } from 'node:crypto'
import { Client } from '@stable-canvas/comfyui-client'
import { ComfyUIClient } from 'comfy-ui-client'
import sharp from 'sharp'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { type Server, startServer } from '../../support/server.ts'

let server: Server
beforeAll(async () => {
  server = await startServer({ MODEL_DIR: 'models' })
})
afterAll(async () => void (await server.stop()))

const host = () => server.url.replace('http://', '')
const drawing = () =>
  sharp({ create: { width: 24, height: 24, channels: 3, background: '#336699' } })
    .png()
    .toBuffer()

/** A picture that was uploaded, made anew with the bundled checkpoint. */
const repainting = (image: string) => ({
  load: { class_type: 'LoadImage', inputs: { image } },
  model: { class_type: 'CheckpointLoaderSimple', inputs: { ckpt_name: 'easel-demo.safetensors' } },
  latent: { class_type: 'VAEEncode', inputs: { pixels: ['load', 0], vae: ['model', 2] } },
  words: { class_type: 'CLIPTextEncode', inputs: { text: 'a boat', clip: ['model', 1] } },
  none: { class_type: 'CLIPTextEncode', inputs: { text: '', clip: ['model', 1] } },
  sample: {
    class_type: 'KSampler',
    inputs: {
      model: ['model', 0],
      positive: ['words', 0],
      negative: ['none', 0],
      latent_image: ['latent', 0],
      seed: 7,
      steps: 2,
      cfg: 2,
      sampler_name: 'euler',
      scheduler: 'normal',
      denoise: 0.5,
    },
  },
  picture: { class_type: 'VAEDecode', inputs: { samples: ['sample', 0], vae: ['model', 2] } },
  save: { class_type: 'SaveImage', inputs: { images: ['picture', 0], filename_prefix: 'boat' } },
})

it('serves comfy-ui-client: upload, prompt, socket, picture', async () => {
  const client = new ComfyUIClient(host(), randomUUID())
  await client.connect()
  const uploaded = await client.uploadImage(await drawing(), 'drawing.png', true)
  expect(uploaded).toEqual({ name: 'drawing.png', subfolder: '', type: 'input' })
  const images = await client.getImages(repainting('drawing.png'))
  const [{ blob, image } = {}] = images.save ?? []
  expect(image).toMatchObject({ filename: expect.stringMatching(/_boat_00001_\.png$/), type: 'output' })
  expect(await sharp(Buffer.from(await blob!.arrayBuffer())).metadata()).toMatchObject({ width: 24, height: 24 })

  const reference = { filename: 'drawing.png', subfolder: '', type: 'input' }
  expect(await client.uploadMask(await drawing(), 'mask.png', reference, true)).toMatchObject({ name: 'mask.png' })
  expect(await client.getQueue()).toEqual({ queue_running: [], queue_pending: [] })
  expect(await client.getPrompt()).toEqual({ exec_info: { queue_remaining: 0 } })
  expect(await client.getEmbeddings()).toEqual([])
  expect(await client.getExtensions()).toEqual([])
  expect(Object.keys(await client.getObjectInfo('KSampler'))).toEqual(['KSampler'])
  expect((await client.getSystemStats()).devices).toHaveLength(1)
  expect(Object.keys(await client.getHistory())).toHaveLength(1)
  await expect(client.queuePrompt({ x: { class_type: 'Nope', inputs: {} } })).rejects.toThrow('missing_node_type')
  await client.disconnect()
})

it.each(['', '/api'])(
  'serves @stable-canvas/comfyui-client at "%s": upload, prompt, socket, picture',
  async (api_base) => {
    const client = new Client({ api_host: host(), api_base, clientId: randomUUID(), WebSocket, fetch })
    void client.connect()
    await new Promise<void>((resolve) => client.once('status', () => resolve()))
    const form = new FormData()
    form.append('image', new Blob([await drawing()]), 'other.png')
    const { name } = (await (await client.fetchApi('/upload/image', { method: 'POST', body: form })).json()) as {
      name: string
    }
    const steps: number[] = []
    const { images } = await client.enqueue(repainting(name), { progress: ({ value }) => void steps.push(value) })
    const [image] = images
    expect(image).toMatchObject({ type: 'url' })
    const file = await fetch(image!.data as string) // a URL, as its type says
    expect(await sharp(Buffer.from(await file.arrayBuffer())).metadata()).toMatchObject({ width: 24, height: 24 })
    if (api_base === '') expect(steps.at(-1)).toBe(2)

    const polled = await client.runPrompt(repainting(name), { polling_ms: 20 })
    expect(polled.images).toHaveLength(1)
    expect(await client.getSamplers()).toContain('euler')
    expect(await client.getSDModels()).toContain('easel-demo.safetensors')
    await client.interrupt()
    await client.free({ unload_models: true, free_memory: true })
    await client.deleteItem('history', polled.prompt_id)
    expect((await client.getHistory()).History).not.toHaveLength(0)
    await client.clearItems('history')
    expect((await client.getHistory()).History).toEqual([])
    await expect(client.queuePrompt(0, { prompt: {}, workflow: undefined })).rejects.toThrow()
    client.close()
  },
)
