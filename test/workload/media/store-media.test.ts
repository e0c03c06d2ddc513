import { createHash } from 'node:crypto'
import { readdir, readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import type { Prompt } from '../../../src/contracts/prompt.ts'
import { mediaRoom, loading as node } from '../../support/media.ts'

const pixel = sharp({ create: { width: 1, height: 1, channels: 3, background: 'red' } })
const [png, jpeg, gif, webp, tiff, avif] = await Promise.all([
  pixel.clone().png().toBuffer(),
  pixel.clone().jpeg().toBuffer(),
  pixel.clone().gif().toBuffer(),
  pixel.clone().webp().toBuffer(),
  pixel.clone().tiff().toBuffer(),
  pixel.clone().avif({ effort: 0 }).toBuffer(),
])

const room = (maxBytes?: number) => mediaRoom(png!, maxBytes)

describe('pictures inside a prompt', () => {
  it.each([
    ['png', png],
    ['jpg', jpeg],
    ['gif', gif],
    ['webp', webp],
    ['tiff', tiff],
    ['avif', avif],
  ])('are stored from base64 under a name made of their content: %s', async (extension, bytes) => {
    const { folder, imageFor } = await room()
    const name = `${createHash('sha256').update(bytes!).digest('hex').slice(0, 32)}.${extension}`
    expect(await imageFor(bytes!.toString('base64'))).toBe(name)
    expect(await readdir(folder)).toEqual([name])
    expect(await readFile(join(folder, name))).toEqual(bytes)
  })

  it('may be a short JPEG, whose base64 begins like a path', async () => {
    const text = jpeg!.toString('base64')
    expect(text).toMatch(/^\/9j\//)
    const { folder, imageFor } = await room()
    const stored = await imageFor(text)
    expect(await readFile(join(folder, String(stored)))).toEqual(jpeg)
  })

  it('get the same name in every spelling', async () => {
    const { folder, imageFor } = await room()
    const text = png!.toString('base64')
    const spellings = [
      text,
      text.replace(/=+$/, ''),
      png!.toString('base64url'),
      ` ${text.replace(/(.{20})/g, '$1\r\n')}\n`,
      `data:image/png;base64,${text}`,
      `DATA:image/x-png;charset=utf-8;base64,${text.replaceAll('+', '%2B')}`,
      `data:application/octet-stream;base64,${text}`,
    ]
    const names = await Promise.all(spellings.map(imageFor))
    expect(new Set(names).size).toBe(1)
    expect(await readdir(folder)).toEqual([names[0]])
    expect(await imageFor(`data:image/jpg;base64,${jpeg!.toString('base64')}`)).toMatch(/\.jpg$/)
  })

  it('are found in nodes of any class, and everything else is left as it was', async () => {
    const { store } = await room()
    const prompt: Prompt = {
      a: { class_type: 'Anything', inputs: { image: png!.toString('base64'), other: 3 }, _meta: { title: 'A' } },
      b: node(['a', 0]),
      c: node(''),
      d: { class_type: 'KSampler', inputs: { seed: 18446744073709551615n } },
    }
    const before = structuredClone(prompt)
    const stored = await store(prompt)
    expect(prompt).toEqual(before)
    expect(stored).toEqual({
      ...prompt,
      a: { ...prompt.a, inputs: { image: expect.stringMatching(/^[0-9a-f]{32}\.png$/), other: 3 } },
    })
    expect(Object.keys(stored)).toEqual(['a', 'b', 'c', 'd'])
  })

  it('may be named when they lie in the input folder', async () => {
    const { imageFor } = await room()
    for (const name of ['cat.png', 'sub/cat.png', 'cat.png [input]', 'made.png [output]', 'shown.png [temp]'])
      expect(await imageFor(name)).toBe(name)
  })

  it('keep the name they were given before', async () => {
    const { imageFor } = await room()
    const name = await imageFor(png!.toString('base64'))
    expect(await imageFor(name)).toBe(name)
  })
})

describe('what is no picture inside a prompt', () => {
  it.each([
    '/etc/passwd',
    '/etc/hostname.png',
    '../secret.png',
    './cat.png',
    'sub/../../secret.png',
    'a\\b',
    'C:/a.png',
  ])('is refused as a path: %s', async (path) => {
    const { imageFor } = await room()
    await expect(imageFor(path)).rejects.toMatchObject({
      code: 'path-not-allowed',
      facts: { location: 'prompt.5.inputs.image' },
    })
  })

  it('is not read through a link that leaves the folder', async () => {
    const { root, inputDir, imageFor } = await room()
    await symlink(join(root, 'secret.png'), join(inputDir, 'link.png'))
    await expect(imageFor('link.png')).rejects.toMatchObject({ code: 'media-unavailable' })
  })

  it.each(['dog.png', 'photo', 'x'.repeat(300), 'iVBOR', '!', `${'A'.repeat(500)}=`])(
    'is unavailable: %s',
    async (text) => {
      const { imageFor } = await room()
      await expect(imageFor(text)).rejects.toMatchObject({
        code: 'media-unavailable',
        message: 'neither the name of an input file nor an image in base64',
      })
    },
  )

  it.each([
    ['HEIC', '\0\0\0\x18ftypheic\0\0\0\0heicmif1'],
    ['PDF', '%PDF-1.7 and so on'],
    ['ZIP', 'PK\x03\x04and so on'],
    ['HTML', '<!DOCTYPE html><html></html>'],
    ['SVG', '<svg xmlns="http://www.w3.org/2000/svg"/>'],
    ['BMP', 'BM\x46\0\0\0\0\0\0\0\x36\0'],
    ['MP4', '\0\0\0\x18ftypisom\0\0\0\0isomiso2'],
    ['text', 'just some words of text'],
  ])('is unsupported: %s', async (name, content) => {
    const { folder, imageFor } = await room()
    const text = Buffer.from(content, 'latin1').toString('base64')
    for (const image of [text, `data:image/png;base64,${text}`])
      await expect(imageFor(image)).rejects.toMatchObject({
        code: 'media-unsupported',
        message: `${name} content: send a PNG, JPEG, WebP, GIF, TIFF or AVIF image`,
      })
    expect(await readdir(folder).catch(() => [])).toEqual([])
  })

  it.each([
    [`data:image/jpeg;base64,${png!.toString('base64')}`, 'the data URI declares image/jpeg but holds a PNG image'],
    ['data:image/png;base64,', 'the data URI does not hold an image in base64'],
    ['data:image/png;base64,@@@@', 'the data URI does not hold an image in base64'],
    [`data:image/png,${png!.toString('base64')}`, 'a data URI must read data:<type>;base64,<data>'],
    ['data:', 'a data URI must read data:<type>;base64,<data>'],
  ])('is unsupported as a data URI: %.30s…', async (text, message) => {
    const { imageFor } = await room()
    await expect(imageFor(text)).rejects.toMatchObject({ code: 'media-unsupported', message })
  })

  it.each(['http://127.0.0.1/a.png', 'HTTP://localhost/a.png', 's3://bucket/a.png'])(
    'is not allowed behind %s',
    async (url) => {
      const { imageFor } = await room()
      await expect(imageFor(url)).rejects.toMatchObject({ code: 'url-not-allowed' })
    },
  )

  it('is too large beyond the limit, to the byte', async () => {
    const text = png!.toString('base64')
    expect(await (await room(png!.length)).imageFor(text)).toMatch(/png$/)
    for (const image of [text, `data:image/png;base64,${text}`])
      await expect((await room(png!.length - 1)).imageFor(image)).rejects.toMatchObject({
        code: 'media-too-large',
        message: `an image may have ${png!.length - 1} bytes at most`,
      })
  })

  it('is reported all at once, without repeating what was sent', async () => {
    const { store } = await room()
    const error = await store({
      '1': node('dog.png'),
      '2': node('cat.png'),
      '3': node('http://127.0.0.1/secret-token'),
      '4': node(Buffer.from('%PDF-1.7').toString('base64')),
    }).catch((error: unknown) => error)
    expect(error).toMatchObject({
      code: 'media-unavailable',
      facts: { location: 'prompt.1.inputs.image', errors: {} },
    })
    expect(error).toHaveProperty(['facts', 'errors'], {
      'prompt.1.inputs.image': ['neither the name of an input file nor an image in base64'],
      'prompt.3.inputs.image': ['the URL leads to an address that is not public; OUTBOUND_ALLOW makes exceptions'],
      'prompt.4.inputs.image': ['PDF content: send a PNG, JPEG, WebP, GIF, TIFF or AVIF image'],
    })
    expect(JSON.stringify(error)).not.toContain('secret-token')
  })
})
