import { expect, it } from 'vitest'
import type { NodeEvent } from '../../../src/workload/engine/protocol.ts'
import { createJobHistory, type JobEvent } from '../../../src/workload/jobs/job-history.ts'
import { picture, saving } from '../../support/prompts.ts'

const begun = () => {
  const history = createJobHistory('job', saving(picture()), () => 5)
  history.start()
  return history
}
const preview = (value: number): NodeEvent => ({
  kind: 'preview',
  node: 'image',
  at: 0,
  value,
  max: 9,
  preview: Uint8Array.of(value, 255),
})
const step = (value: number): NodeEvent => ({ kind: 'progress', node: 'image', at: 0, value, max: 9 })

/** What a follower has been told by now. */
async function told(history: ReturnType<typeof begun>, after = 0, previews = true): Promise<readonly JobEvent[]> {
  const events: JobEvent[] = []
  const enough = new AbortController()
  setImmediate(() => enough.abort())
  for await (const event of history.follow(after, enough.signal, previews)) events.push(event)
  return events
}

it('keeps the newest preview only, in its place among the events', async () => {
  const history = begun()
  for (let value = 1; value <= 4; value++) {
    history.note(step(value))
    history.note(preview(value))
  }
  const events = await told(history)
  expect(events.map(({ id, name }) => [id, name])).toEqual([
    [1, 'execution_start'],
    [2, 'progress'],
    [4, 'progress'],
    [6, 'progress'],
    [8, 'progress'],
    [9, 'preview'],
  ])
  expect(events.at(-1)!.data).toEqual({
    prompt_id: 'job',
    node: 'image',
    value: 4,
    max: 9,
    image: Buffer.of(4, 255).toString('base64'),
    mime_type: 'image/jpeg',
  })
})

it('goes on behind a preview that is kept no more', async () => {
  const history = begun()
  history.note(preview(1))
  history.note(step(2))
  history.note(preview(3))
  expect((await told(history, 2)).map(({ id }) => id)).toEqual([3, 4])
})

it('does not crowd out the other events with previews', async () => {
  const history = begun()
  for (let value = 1; value <= 600; value++) history.note(preview(value))
  expect((await told(history)).map(({ name }) => name)).toEqual(['execution_start', 'preview'])
})

it('has no preview left when the job has ended, or was begun again', async () => {
  const history = begun()
  history.note(preview(1))
  history.start()
  expect((await told(history)).map(({ name }) => name)).toEqual(['execution_start', 'execution_start'])
  history.note(preview(2))
  history.end('complete', { outputs: [0] })
  expect((await told(history)).map(({ name }) => name)).toEqual(['execution_start', 'execution_start', 'complete'])
})

it('counts who follows as audience, unless they want no previews', async () => {
  const history = begun()
  history.note(preview(1))
  const gone = new AbortController()
  const blind = history.follow(0, gone.signal, false)
  expect((await blind.next()).value).toMatchObject({ name: 'execution_start' })
  const waiting = blind.next() // the preview is passed over
  expect(history.audience.present).toBe(false)
  const seeing = history.follow(1, gone.signal)
  await seeing.next()
  expect(history.audience.present).toBe(true)
  const rest = seeing.next()
  gone.abort()
  expect([await rest, await waiting].map(({ done }) => done)).toEqual([true, true])
  expect(history.audience.present).toBe(false)
})
