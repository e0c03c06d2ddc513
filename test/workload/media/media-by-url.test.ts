import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { mediaRoom, loading as node } from '../../support/media.ts'
import { listen } from '../../support/site.ts'

const png = await sharp({ create: { width: 1, height: 1, channels: 3, background: 'red' } })
  .png()
  .toBuffer()

describe('pictures by URL', () => {
  it('are fetched once however many nodes name them, and named after their content', async () => {
    let asked = 0
    const { url } = await listen((_, response) => void response.end(png, () => asked++))
    const { take, folder } = await mediaRoom(png)
    const image = `${url}/picture?size=1`
    const { prompt, assumed } = await take({ '1': node(image), '2': node(image) }, true)
    const names = Object.values(prompt).map(({ inputs }) => inputs.image as string)
    expect(names[0]).toMatch(/^[0-9a-f]{32}\.png$/)
    expect(names[1]).toBe(names[0])
    expect(await readFile(join(folder, names[0]!))).toEqual(png)
    expect([asked, assumed.size]).toEqual([1, 0])
  })

  it('are only checked when they are to be fetched later, while others are taken in', async () => {
    let asked = 0
    const { url } = await listen((_, response) => void response.end(png, () => asked++))
    const { take, folder } = await mediaRoom(png)
    const inline = node(png.toString('base64'))
    const { prompt, assumed } = await take(
      { '1': node(url), '2': inline, '3': node(url), '4': node(`${url}/b`) },
      false,
    )
    const [first, second, third, fourth] = Object.values(prompt).map(({ inputs }) => inputs.image as string)
    expect(await readdir(folder)).toEqual([second])
    expect(third).toBe(first)
    expect([...assumed].sort()).toEqual([first, fourth].sort())
    expect(asked).toBe(0)
    const refused = { code: 'url-not-allowed', facts: { location: 'prompt.5.inputs.image' } }
    for (const bad of ['http://127.0.0.1/', 'https://[::1]/', 'http://', 's3://secret/a.png', 's3://bucket'])
      await expect(take({ '5': node(bad) }, false)).rejects.toMatchObject(refused)
    await expect(take({ '5': node(`${url}/${'x'.repeat(20_000)}`) }, false)).rejects.toMatchObject(refused)
  })

  it('come a few at a time, and all faults are told', async () => {
    let [now, most] = [0, 0]
    const { url } = await listen((request, response) => {
      most = Math.max(most, ++now)
      setImmediate(() => {
        now -= 1
        if (request.url === '/bad') response.writeHead(404).end()
        else response.end(png)
      })
    })
    const { store } = await mediaRoom(png)
    const nodes = Array.from({ length: 12 }, (_, i) => [`${i}`, node(`${url}/${i === 3 || i === 7 ? 'bad' : i}`)])
    await expect(store(Object.fromEntries(nodes))).rejects.toMatchObject({
      code: 'media-unavailable',
      facts: {
        errors: {
          'prompt.3.inputs.image': ['the URL answered with status 404'],
          'prompt.7.inputs.image': ['the URL answered with status 404'],
        },
      },
    })
    expect(most).toBeLessThanOrEqual(4)
  })

  it.each([
    ['<html></html>', 'HTML content: send a PNG, JPEG, WebP, GIF, TIFF or AVIF image'],
    ['\x01\x02', 'the URL holds no image'],
  ])('are unsupported when they hold something else', async (content, message) => {
    const { url } = await listen((_, response) => response.end(content))
    const { imageFor } = await mediaRoom(png)
    await expect(imageFor(url)).rejects.toMatchObject({ code: 'media-unsupported', message })
  })
})

describe('the pixels of a picture', () => {
  it('are counted over all frames before anything is decoded', async () => {
    const frame = sharp({ create: { width: 20, height: 40, channels: 3, background: 'red' } })
    const frames = await frame.clone().raw().toBuffer()
    const animation = await sharp(Buffer.concat([frames, frames.map((byte) => 255 - byte)]), {
      raw: { width: 20, height: 80, channels: 3, pageHeight: 40 },
    })
      .webp({ loop: 0 })
      .toBuffer()
    const still = (await frame.png().toBuffer()).toString('base64')
    const moving = animation.toString('base64')
    const tooMany = { code: 'media-too-large', message: 'an image may have 799 pixels at most' }
    await expect((await mediaRoom(png, 1e6, 799)).imageFor(still)).rejects.toMatchObject(tooMany)
    await expect((await mediaRoom(png, 1e6, 1599)).imageFor(moving)).rejects.toMatchObject({ code: 'media-too-large' })
    expect(await (await mediaRoom(png, 1e6, 800)).imageFor(still)).toMatch(/png$/)
    expect(await (await mediaRoom(png, 1e6, 1600)).imageFor(moving)).toMatch(/webp$/)
  })
})
