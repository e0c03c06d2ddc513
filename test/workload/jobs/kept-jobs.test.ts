import { randomBytes } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import sharp from 'sharp'
import { expect, it, onTestFinished } from 'vitest'
import { emptyFolder } from '../../support/folder.ts'
import { node, saving } from '../../support/prompts.ts'
import { startServer } from '../../support/server.ts'

/** A picture of `side` times `side` in base64 that no encoder makes smaller. */
const noise = async (side: number): Promise<string> => {
  const raw = { width: side, height: side, channels: 3 as const }
  const png = await sharp(randomBytes(side * side * 3), { raw })
    .png({ compressionLevel: 0 })
    .toBuffer()
  return png.toString('base64')
}
const failing = (image: string) =>
  saving(node('TestFails', { image: ['source', 0] }), { source: node('LoadImage', { image }) })

it('a job that has ended keeps none of the pictures that came with it, in memory or on the disk', async () => {
  const output = await emptyFolder()
  // All bodies together are more than the heap may hold.
  const server = await startServer({
    JOB_STORE: 'memory',
    OUTPUT_DIR: output,
    NODE_OPTIONS: '--max-old-space-size=110',
    RESULT_CACHE_MB: '0',
  })
  onTestFinished(async () => void (await server.stop('SIGKILL')))
  for (let i = 0; i < 14; i++)
    expect((await server.post({ prompt: failing(await noise(2000)), id: `large-${i}` })).status).toBe(500)
  expect(
    (await server.post({ prompt: saving(node('LoadImage', { image: await noise(16) })), id: 'good' })).status,
  ).toBe(200)
  const names = async () => (await readdir(output, { recursive: true })).filter((name) => name.endsWith('.png'))
  await expect.poll(names).toEqual([expect.stringMatching(/output\/.*\.png$/)])
  expect(await (await fetch(`${server.url}/jobs/large-3`)).json()).toMatchObject({ status: 'failed' })
  expect(await (await fetch(`${server.url}/jobs/good`)).json()).toMatchObject({ images: [expect.any(String)] })
}, 60_000)
