import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { jobRecordSchema } from '../../src/contracts/job.ts'
import { emptyFolder } from '../support/folder.ts'
import { picture, saving, slow } from '../support/prompts.ts'
import { queueFolderIn } from '../support/queues.ts'
import { receiver } from '../support/receiver.ts'
import { type Server, startServer } from '../support/server.ts'

/** Starts servers one after the other that keep prompts and files in the same places. */
async function servers() {
  const [data, output] = await Promise.all([emptyFolder(), emptyFolder()])
  await queueFolderIn(join(data, 'queue'))
  return async (environment: Readonly<Record<string, string>> = {}): Promise<Server> => {
    const server = await startServer({
      DATA_DIR: data,
      OUTPUT_DIR: output,
      OUTBOUND_ALLOW: '127.0.0.1',
      MAX_CONCURRENT_PROMPTS: '2',
      WEBHOOK_SCHEDULE_S: '0,0.2',
      PROMPT_WEBHOOK_RETRIES: '100',
      SHUTDOWN_GRACE_S: '0.5',
      ...environment,
    })
    onTestFinished(async () => void (await server.stop('SIGKILL')))
    return Object.assign(server, { spooled: () => readdir(join(output, 'spool')).catch(() => []) })
  }
}

const recordOf = async ({ url }: Server, id: string) =>
  jobRecordSchema.parse(await (await fetch(`${url}/jobs/${id}?result=false`)).json())

it.each(['SIGTERM', 'SIGKILL'] as const)(
  'what was accepted is told once by the next server, wherever it was when this one got %s',
  async (signal) => {
    const start = await servers()
    let isUp = false
    const { url, calls } = await receiver({ behave: () => (isUp ? 200 : 503) })
    const first = await start()
    const bodies = [
      { id: 'told-later', prompt: saving(picture({ rows: 2 })), webhook_v2: url },
      { id: 'told-plainly', prompt: saving(picture({ rows: 2 })), webhook: `${url}/plain` },
      {
        id: 'failed',
        prompt: saving({ class_type: 'LoadImage', inputs: { image: 'http://127.0.0.1:9/' } }),
        webhook_v2: url,
      },
      { id: 'runs-long', prompt: saving(slow(40, 50)), webhook_v2: url },
      { id: 'runs-short', prompt: saving(slow(10, 50)), webhook_v2: url },
      { id: 'waits', prompt: saving(picture()), webhook_v2: url },
      { id: 'waits-too', prompt: saving(picture()), webhook_v2: url, priority: -5 },
    ]
    for (const body of bodies) {
      expect((await first.post(body)).status).toBe(202)
      if (body.id === 'failed') await expect.poll(() => calls.length).toBeGreaterThan(2)
    }
    await expect.poll(async () => (await recordOf(first, 'runs-short')).status).toBe('running')
    expect(await first.stop(signal)).toEqual(signal === 'SIGTERM' ? [0, null] : [null, signal])
    isUp = true
    await pause(50)
    const before = calls.filter(({ status }) => status === 200)
    expect(before).toEqual([])

    const second = await start()
    const events = () =>
      calls
        .filter(({ status }) => status === 200)
        .map(({ promptId, event, body }) => `${promptId} ${event} ${body!.filename ?? ''}`.trim())
    const expected = [
      'failed prompt.failed',
      'runs-long prompt.complete',
      'runs-short prompt.complete',
      'told-later prompt.complete',
      'told-plainly output.complete told-plainly_test_00001_.png',
      'told-plainly output.complete told-plainly_test_00002_.png',
      'waits prompt.complete',
      'waits-too prompt.complete',
    ]
    await expect.poll(() => events().sort(), { timeout: 20_000 }).toEqual(expected)
    await expect
      .poll(async () =>
        Promise.all(bodies.map(async ({ id }) => (await recordOf(second, id)).delivery?.map(({ status }) => status))),
      )
      .toEqual(bodies.map(() => ['delivered']))
    await expect.poll(() => second.spooled()).toEqual([])
    expect(events().sort()).toEqual(expected)
  },
  60_000,
)
