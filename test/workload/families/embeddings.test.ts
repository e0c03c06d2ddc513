import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createEmbeddings } from '../../../src/workload/families/support/embeddings.ts'
import { openSafetensors } from '../../../src/workload/weights/safetensors.ts'

type Stored = readonly [dtype: 'F32' | 'F16' | 'BF16', dims: readonly number[], bytes: Float32Array | Uint16Array]

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'embeddings-'))
})
afterAll(() => rm(folder, { recursive: true }))

const embeddings = createEmbeddings({
  files: async () => {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true })
    return entries.filter((it) => it.isFile()).map((it) => join(it.parentPath, it.name).slice(folder.length + 1))
  },
  open: (file) => openSafetensors(join(folder, file)),
})
const found = async (name: string, key: 'clip_l' | 'clip_g' = 'clip_l') => {
  const vectors = await embeddings.find(name, key)
  return vectors && [vectors.dims, [...vectors.data]]
}

async function write(file: string, tensors: Readonly<Record<string, Stored>>): Promise<void> {
  let at = 0
  const header = Object.fromEntries(
    Object.entries(tensors).map(([name, [dtype, shape, { byteLength }]]) => {
      at += byteLength
      return [name, { dtype, shape, data_offsets: [at - byteLength, at] }]
    }),
  )
  const json = Buffer.from(JSON.stringify(header))
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(json.length))
  const bytes = Object.values(tensors).map(([, , data]) => Buffer.from(data.buffer))
  await mkdir(dirname(join(folder, file)), { recursive: true })
  await writeFile(join(folder, file), Buffer.concat([length, json, ...bytes]))
}
const floats = (...values: readonly number[]): Stored => ['F32', [1, values.length], Float32Array.from(values)]

describe('embedding files', () => {
  it('are found by name with or without extension, in any sub-folder, nearest the top first', async () => {
    await write('dog.safetensors', { emb_params: floats(1, 2) })
    await write('old/dog.safetensors', { emb_params: floats(3, 4) })
    await write('old/style/oil.safetensors', { emb_params: floats(5, 6) })
    expect(await found('dog')).toEqual([
      [1, 2],
      [1, 2],
    ])
    expect(await found('dog.safetensors')).toEqual([
      [1, 2],
      [1, 2],
    ])
    expect(await found('old/dog')).toEqual([
      [1, 2],
      [3, 4],
    ])
    expect(await found('oil')).toEqual([
      [1, 2],
      [5, 6],
    ])
    expect(await found('style/oil')).toEqual([
      [1, 2],
      [5, 6],
    ])
  })

  it('are not found by part of a name or outside their folder', async () => {
    await write('dog.safetensors', { emb_params: floats(1, 2) })
    for (const name of ['do', 'og', '../dog', '/dog', 'dog.pt']) expect(await found(name)).toBeUndefined()
  })

  it('in a format that may hold code are refused with the way out', async () => {
    await writeFile(join(folder, 'pickled.pt'), 'x')
    for (const name of ['pickled', 'pickled.pt'])
      await expect(embeddings.find(name, 'clip_l')).rejects.toMatchObject({
        code: 'invalid-request',
        message: expect.stringMatching(/pickled\.pt.*convert it to \.safetensors/),
      })
    await write('converted/pickled.safetensors', { emb_params: floats(8) })
    expect(await found('pickled')).toEqual([[1, 1], [8]])
  })

  it('hold vectors of every floating-point type', async () => {
    await write('half.safetensors', { emb_params: ['F16', [2, 1], Uint16Array.of(0x3c00, 0xc000)] })
    await write('brain.safetensors', { emb_params: ['BF16', [2, 1], Uint16Array.of(0x3f80, 0xc000)] })
    expect(await found('half')).toEqual([
      [2, 1],
      [1, -2],
    ])
    expect(await found('brain')).toEqual([
      [2, 1],
      [1, -2],
    ])
  })

  it('give each encoder its own vectors', async () => {
    await write('both.safetensors', { clip_g: floats(1, 2, 3), clip_l: floats(4, 5) })
    expect(await found('both', 'clip_l')).toEqual([
      [1, 2],
      [4, 5],
    ])
    expect(await found('both', 'clip_g')).toEqual([
      [1, 3],
      [1, 2, 3],
    ])
  })

  it('may keep their vectors under the names of several trainers', async () => {
    await write('inversion.safetensors', { another: floats(1), 'string_to_param.*': floats(2) })
    await write('bundle.safetensors', {
      'bundle_emb.a.string_to_param.*': floats(1),
      'bundle_emb.b.string_to_param.*': floats(2),
    })
    await write('plain.safetensors', { '<word>': ['F32', [3], Float32Array.of(1, 2, 3)] })
    expect(await found('inversion')).toEqual([[1, 1], [2]])
    expect(await found('bundle')).toEqual([
      [2, 1],
      [1, 2],
    ])
    expect(await found('plain')).toEqual([
      [1, 3],
      [1, 2, 3],
    ])
  })

  it('without vectors are refused', async () => {
    await write('empty.safetensors', {})
    await expect(embeddings.find('empty', 'clip_l')).rejects.toMatchObject({ code: 'invalid-request' })
  })
})
