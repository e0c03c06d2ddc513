import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openSafetensors, readTensor } from '../../../src/workload/weights/safetensors.ts'
import { emptyFolder } from '../../support/folder.ts'
import { type Stored, writeSafetensors } from '../../support/safetensors.ts'

const data = Float32Array.of(1, -2, 0.5, 3)

it.each(['F32', 'F16', 'BF16'] satisfies Stored[])('reads %s weights as float32', async (dtype) => {
  const path = await writeSafetensors(join(await emptyFolder(), 'a.safetensors'), { w: { dims: [2, 2], data } }, dtype)
  const read = await readTensor(await openSafetensors(path), 'w')
  expect(read.dims).toEqual([2, 2])
  expect([...read.data]).toEqual([...data])
})

const entry = (more: object) => JSON.stringify({ w: { dtype: 'F32', shape: [2], data_offsets: [0, 8], ...more } })

it.each([
  ['is empty', '', 0, 'cut short'],
  ['has a header beyond its end', entry({}), 10_000, 'header runs past its end'],
  ['has a header that is no JSON', '{"w":', undefined, 'JSON'],
  ['has an unknown type', entry({ dtype: 'F7' }), undefined, 'unknown type F7'],
  ['has a length that does not fit the shape', entry({ shape: [3] }), undefined, '8 bytes for [3]'],
  ['ends too early', entry({ shape: [200], data_offsets: [0, 800] }), undefined, 'is it whole?'],
])('says what is wrong with a file that %s', async (_what, header, length, fault) => {
  const path = join(await emptyFolder(), 'bad.safetensors')
  const prefix = Buffer.alloc(8)
  prefix.writeBigUInt64LE(BigInt(length ?? header.length))
  await writeFile(path, header === '' ? '' : Buffer.concat([prefix, Buffer.from(header), Buffer.alloc(8)]))
  await expect(openSafetensors(path)).rejects.toMatchObject({
    code: 'execution-failed',
    message: expect.stringContaining(fault),
  })
})
