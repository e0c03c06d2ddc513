import { readdir, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { checkPrefix } from '../../../src/workload/image/file-names.ts'
import { loadFormats } from '../../../src/workload/image/format.ts'
import { createSpool, type SpoolOptions } from '../../../src/workload/image/spool.ts'
import { filled, tensor } from '../../../src/workload/tensor/tensor.ts'
import { emptyFolder } from '../../support/folder.ts'

const formats = await loadFormats()
const grey = (rows = 1, width = 6, height = 4, channels = 3) => filled([rows, height, width, channels], 0.5)
const artifact = (prefix: string, pixels = grey()) => ({ kind: 'image', pixels, prefix, retention: 'output' }) as const

async function spool(options: Partial<SpoolOptions> = {}) {
  const folder = await emptyFolder()
  const now = () => new Date(2031, 1, 3, 4, 5, 6)
  return { folder, ...createSpool({ formats, folder, id: 'job', prependId: true, metadata: {}, now, ...options }) }
}

describe('the spool', () => {
  it('writes one whole file a row, in order, and nothing else', async () => {
    const { folder, save } = await spool()
    const pixels = tensor([2, 1, 1, 3], Float32Array.from([1, 0, 0, 0, 0, 1]))
    const files = await save(artifact('ComfyUI', pixels))
    expect(files.map(({ filename }) => filename)).toEqual(['job_ComfyUI_00001_.png', 'job_ComfyUI_00002_.png'])
    expect(await readdir(folder)).toHaveLength(2)
    const colours = await Promise.all(files.map(async ({ path }) => [...(await sharp(path).raw().toBuffer())]))
    expect(colours).toEqual([
      [255, 0, 0],
      [0, 0, 255],
    ])
    for (const { path, bytes, mime } of files)
      expect([bytes, mime]).toEqual([(await readFile(path)).length, 'image/png'])
  })

  it('counts on for an equal prefix, from one for another', async () => {
    const { save } = await spool()
    const batches = await Promise.all([artifact('a', grey(2)), artifact('b'), artifact('a')].map(save))
    expect(batches.flat().map(({ filename }) => filename)).toEqual([
      'job_a_00001_.png',
      'job_a_00002_.png',
      'job_b_00001_.png',
      'job_a_00003_.png',
    ])
  })

  it('uses the id alone when told to, counting over all prefixes', async () => {
    const { save } = await spool({ prependId: false })
    const names = [await save(artifact('a')), await save(artifact('b/c'))].flat().map(({ filename }) => filename)
    expect(names).toEqual(['job_00001_.png', 'job_00002_.png'])
  })

  it('tells folders in the name and keeps the file in its own folder', async () => {
    const { folder, save } = await spool()
    const [file] = await save(artifact('a/./b//out'))
    expect(file!.filename).toBe('job_a/b/out_00001_.png')
    expect(dirname(file!.path)).toBe(folder)
  })

  it('replaces placeholders by size and local time', async () => {
    const { save } = await spool()
    const prefix = '%width%x%height%_%year%-%month%-%day%_%hour%%minute%%second%_%other%'
    const [file] = await save(artifact(prefix))
    expect(file!.filename).toBe('job_6x4_2031-02-03_040506_%other%_00001_.png')
  })

  it('replaces the batch number for each image and never gives a name twice', async () => {
    const { save } = await spool()
    const names = [...(await save(artifact('x%batch_num%', grey(2)))), ...(await save(artifact('x0')))]
    expect(names.map(({ filename }) => filename)).toEqual([
      'job_x0_00001_.png',
      'job_x1_00002_.png',
      'job_x0_00002_.png',
    ])
  })

  it.each(['jpg', 'jpeg', 'webp', 'png', 'avif'] as const)('ends names with exactly the word %s', async (format) => {
    const { save } = await spool({ convert: { format }, metadata: { prompt: {} } })
    const [file] = await save(artifact('out'))
    expect(file!.filename).toBe(`job_out_00001_.${format}`)
    expect(file!.mime).toBe(`image/${format === 'jpg' ? 'jpeg' : format}`)
    expect((await sharp(file!.path).metadata()).comments).toBeUndefined()
  })

  it('keeps four channels as transparency', async () => {
    const [file] = await (await spool()).save(artifact('out', grey(1, 2, 2, 4)))
    expect(await sharp(file!.path).metadata()).toMatchObject({ channels: 4, hasAlpha: true })
  })

  it('writes no previews and no texts', async () => {
    const { folder, save } = await spool()
    expect(await save({ ...artifact('out'), retention: 'temp' })).toEqual([])
    expect(await save({ kind: 'text', text: 'a', retention: 'temp' })).toEqual([])
    expect(await readdir(folder)).toEqual([])
  })

  it('tells the prompt of converted pictures where their format has a place for it', async () => {
    for (const [format, length] of [
      ['jpeg', 1],
      ['webp', 1],
      ['png', 0],
      ['avif', 0],
    ] as const) {
      const { save } = await spool({ convert: { format }, metadata: { prompt: { a: 1 } } })
      const [file] = await save(artifact('out'))
      const { exif = Buffer.alloc(0) } = await sharp(file!.path).metadata()
      expect(exif.includes('prompt:{"a": 1}'), format).toBe(length === 1)
    }
  })

  it('writes the frames of a moving picture as one file, whatever format is asked for', async () => {
    const { folder, save } = await spool({ convert: { format: 'jpeg' } })
    const moving = { kind: 'animation', pixels: grey(3), prefix: '%width%_%batch_num%', retention: 'output' } as const
    const png = await save({ ...moving, encoding: { format: 'png', delay: 100, compressionLevel: 4 } })
    const webp = await save({
      ...moving,
      encoding: { format: 'webp', delay: 100, lossless: true, quality: 80, effort: 4 },
    })
    expect([...png, ...webp].map(({ filename, mime }) => [filename, mime])).toEqual([
      ['job_6_0_00001_.png', 'image/png'],
      ['job_6_0_00002_.webp', 'image/webp'],
    ])
    expect(await readdir(folder)).toHaveLength(2)
    expect((await readFile(webp[0]!.path)).length).toBe(webp[0]!.bytes)
  })

  it('fails a conversion beyond what the format can hold, and leaves no file', async () => {
    const { folder, save } = await spool({ convert: { format: 'webp' } })
    await expect(save(artifact('out', grey(1, 16_384, 1)))).rejects.toMatchObject({
      code: 'conversion-failed',
      message: 'webp allows at most 16383 pixels a side, the image has 16384×1',
    })
    expect(await readdir(folder)).toEqual([])
  })

  it.each(['../out', 'a/../../b', '/etc/out', 'C:/out', 'a\\b', 'a\0b', 'x'.repeat(256)])(
    'refuses the prefix %j',
    async (prefix) => {
      expect(checkPrefix(prefix)).toMatch(/^must not /)
      await expect((await spool()).save(artifact(prefix))).rejects.toMatchObject({ code: 'path-not-allowed' })
    },
  )

  it.each(['ComfyUI', 'a/b/out', 'wait...', 'größe 3', '%year%/%month%'])('allows the prefix %j', (prefix) => {
    expect(checkPrefix(prefix)).toBeUndefined()
  })
})
