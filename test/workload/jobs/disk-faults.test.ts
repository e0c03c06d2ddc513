import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { emptyFolder } from '../../support/folder.ts'
import { picture, saving } from '../../support/prompts.ts'
import { startServer } from '../../support/server.ts'

it('a disk that takes no files fails prompts without telling where they were to lie, and the log tells it', async () => {
  const folder = await emptyFolder()
  await writeFile(join(folder, 'spool'), '') // a file where a folder should be
  const server = await startServer({ JOB_STORE: 'memory', OUTPUT_DIR: folder })
  onTestFinished(async () => void (await server.stop('SIGKILL')))
  const response = await server.post({ prompt: saving(picture()), id: 'waited-for' })
  const text = await response.text()
  expect([response.status, JSON.parse(text)]).toMatchObject([500, { code: 'internal' }])
  expect(text).not.toContain(folder)
  expect(await server.line(/"level":"error".*internal error/)).toContain(folder)

  const headers = { 'content-type': 'application/json', prefer: 'respond-async' }
  const accepted = await server.post({ prompt: saving(picture()), id: 'asynchronous' }, { headers })
  expect(accepted.status).toBe(202)
  const read = async () => (await fetch(`${server.url}/jobs/asynchronous`)).text()
  await expect.poll(async () => JSON.parse(await read()) as unknown).toMatchObject({ status: 'failed' })
  expect(await read()).not.toContain(folder)
  expect((await fetch(`${server.url}/ready`)).status).toBe(200)
})
