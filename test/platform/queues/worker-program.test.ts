import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startOrphanedWorker, startWorker } from '../../support/platform-program.ts'

/** All that a worker must be told; nobody listens there. */
const told = {
  DATABASE_URL: 'postgres://platform:a-secret@127.0.0.1:9/platform',
  WORKER_QUEUE: 'q.5d1f7c0e-8a55-4f0e-9d1b-6f0d0c6f2a10',
  WORKER_PORT: '9',
  WORKER_PATH: 'generate',
  INSTANCE_METADATA_URI: 'http://127.0.0.1:9',
}

async function ended(environment: Readonly<Record<string, string>>) {
  const program = startWorker(environment)
  const [code] = await program.ended
  return { code, said: program.lines.join('\n') }
}

describe('a worker', () => {
  it('names everything that it was not told, and ends with code 2', async () => {
    const { code, said } = await ended({})
    expect(code).toBe(2)
    for (const name of ['DATABASE_URL', 'WORKER_QUEUE', 'WORKER_PORT', 'WORKER_PATH'])
      expect(said).toContain(`${name}: is required`)
    expect(said).not.toContain('    at ')
  })

  it('knows four log levels and no other', async () => {
    const { code, said } = await ended({ ...told, WORKER_LOG_LEVEL: 'trace' })
    expect([code, said]).toEqual([2, expect.stringContaining('WORKER_LOG_LEVEL')])
    expect(said).not.toContain('a-secret')
  })

  it('ends when the platform that started it is gone, also before it could notice', async () => {
    const [code] = await startOrphanedWorker(told).ended
    expect(code).toBe(0)
  })

  it('ends well when its instance is gone', async () => {
    const asked: unknown[] = []
    const imds = createServer(({ url, headers }, response) => {
      asked.push([url, headers.metadata])
      response.writeHead(404).end()
    }).listen(0, '127.0.0.1')
    await once(imds, 'listening')
    onTestFinished(() => void imds.close())
    const uri = `http://127.0.0.1:${(imds.address() as AddressInfo).port}`
    expect(await ended({ ...told, INSTANCE_METADATA_URI: uri })).toMatchObject({ code: 0 })
    expect(asked).toEqual([['/v1/status', 'true']])
  })
})
