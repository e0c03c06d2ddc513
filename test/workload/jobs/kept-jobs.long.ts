import { randomBytes } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import sharp from 'sharp'
import { expect, it, onTestFinished } from 'vitest'
import type { Prompt } from '../../../src/contracts/prompt.ts'
import { emptyFolder } from '../../support/folder.ts'
import { node, picture, saving } from '../../support/prompts.ts'
import { startServer } from '../../support/server.ts'

/** A picture of `side` times `side` in base64 that no encoder makes smaller. */
const noise = async (side: number): Promise<string> => {
  const raw = { width: side, height: side, channels: 3 as const }
  const png = await sharp(randomBytes(side * side * 3), { raw })
    .png({ compressionLevel: 0 })
    .toBuffer()
  return png.toString('base64')
}
/** It fails, and the picture beside it is only taken in. */
const failing = (image: string) =>
  saving(node('TestFails', { image: ['source', 0], message: 'no' }), {
    source: picture(),
    beside: node('LoadImage', { image }),
  })

it.each([
  ['waited for', 500, {}],
  ['asynchronous', 202, { prefer: 'respond-async' }],
])(
  'a prompt that was %s keeps none of its pictures when it has ended, in memory or on the disk',
  async (_, status, headers) => {
    const output = await emptyFolder()
    // All bodies together are more than the heap may hold.
    const server = await startServer({
      JOB_STORE: 'memory',
      OUTPUT_DIR: output,
      NODE_OPTIONS: '--max-old-space-size=96',
      RESULT_CACHE_MB: '0',
    })
    onTestFinished(async () => void (await server.stop('SIGKILL')))
    const post = async (id: string, prompt: Prompt) => {
      const init = { headers: { 'content-type': 'application/json', ...headers } }
      const response = await server.post({ id, prompt }, init)
      await response.text()
      await expect.poll(() => recordOf(id)).toMatchObject({ finish_time: expect.any(String) })
      return response.status
    }
    const recordOf = async (id: string): Promise<unknown> => (await fetch(`${server.url}/jobs/${id}`)).json()
    for (let i = 0; i < 12; i++) expect(await post(`large-${i}`, failing(await noise(1450)))).toBe(status)
    await post('good', saving(node('LoadImage', { image: await noise(16) })))
    const names = async () => (await readdir(output, { recursive: true })).filter((name) => name.endsWith('.png'))
    await expect.poll(names).toEqual([expect.stringMatching(/output\/.*\.png$/)])
    expect(await recordOf('large-3')).toMatchObject({ status: 'failed' })
    expect(await recordOf('good')).toMatchObject({ images: [expect.any(String)] })
  },
  60_000,
)
