import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createEngines } from '../../../src/workload/engine/dispatcher.ts'
import { startEngine } from '../../../src/workload/engine/host.ts'
import type { EngineJob, NodeEvent } from '../../../src/workload/engine/protocol.ts'
import { engineOptions, jobOf, launchEngines, type StartedEngines, startEngines } from '../../support/engine.ts'
import { emptyFolder } from '../../support/folder.ts'
import { killing, node, picture, saving, slow } from '../../support/prompts.ts'

const { signal } = new AbortController()

describe('engines', () => {
  let engines: StartedEngines
  beforeAll(async () => {
    engines = await launchEngines({ limit: 2 })
  })
  afterAll(() => engines.close())

  it('run prompts in a process of their own and report what happens to each node', async () => {
    const events: NodeEvent[] = []
    const job = await jobOf(saving(slow(3, 1)))
    const { files } = await engines.run(job, { signal, onEvent: (event) => events.push(event) })
    expect(engines.each[0]!.processId).not.toBe(process.pid)
    expect(files).toMatchObject([{ filename: 'job_test_00001_.png', mime: 'image/png' }])
    expect((await readFile(files[0]!.path)).length).toBe(files[0]!.bytes)
    expect(events.map(({ kind, node, value }) => [kind, node, value])).toEqual([
      ['started', 'image', undefined],
      ['progress', 'image', 1],
      ['progress', 'image', 3], // the second came too soon after the first to be told
      ['finished', 'image', undefined],
      ['started', 'out', undefined],
      ['finished', 'out', undefined],
      ['output', 'out', undefined],
    ])
  })

  it('run several prompts at once, but no more than they may, first come, first served', async () => {
    const order: string[] = []
    let running = 0
    let most = 0
    const run = (name: string, job: EngineJob) =>
      engines.run(job, {
        signal,
        onStarted: () => void order.push(name),
        onEvent({ kind, node }) {
          if (kind === 'started' && node === 'image') most = Math.max(most, ++running)
          if (kind === 'finished' && node === 'out') running--
        },
      })
    const names = ['a', 'b', 'c', 'd', 'e']
    const jobs = await Promise.all(names.map((name) => jobOf(saving(slow(3, 20)), name)))
    await Promise.all(names.map((name, i) => run(name, jobs[i]!)))
    expect({ order, most }).toEqual({ order: names, most: 2 })
  })

  it('stop a prompt between two steps when it is cancelled, and one that waits at once', async () => {
    const cancel = new AbortController()
    // Made first: whoever has a folder first would be first in the queue.
    const jobs = await Promise.all([1, 2].map(() => jobOf(saving(slow(100_000, 1, true)))))
    const third = await jobOf(saving(picture()))
    const endless = jobs.map((job) =>
      engines.run(job, {
        signal: cancel.signal,
        onEvent: ({ value = 0 }) => void (value >= 20 && cancel.abort(new Error('enough'))),
      }),
    )
    const waiting = engines.run(third, { signal: cancel.signal })
    const ends = await Promise.allSettled([...endless, waiting])
    expect(ends).toMatchObject([
      { reason: { code: 'cancelled' } },
      { reason: { code: 'cancelled' } },
      { reason: { message: 'enough' } },
    ])
    await expect(engines.run(await jobOf(saving(picture())), { signal })).resolves.toBeDefined()
  })

  it('tell a failure as the node told it', async () => {
    const prompt = saving(node('TestFails', { image: ['source', 0], message: 'the lens is dirty' }), {
      source: picture(),
    })
    await expect(engines.run(await jobOf(prompt), { signal })).rejects.toMatchObject({
      code: 'execution-failed',
      message: 'Node image (TestFails): the lens is dirty',
      facts: { nodeId: 'image', nodeType: 'TestFails' },
    })
  })
})

it('gives a prompt to the engine that runs fewest', async () => {
  const engines = await startEngines({ count: 2 })
  const blocking = new AbortController()
  const blocked = engines.run(await jobOf(saving(slow(1, 60_000, true))), { signal: blocking.signal })
  for (let i = 0; i < 3; i++) await engines.run(await jobOf(saving(picture())), { signal })
  blocking.abort(new Error('enough'))
  await Promise.all(engines.each.map((engine) => engine.close()))
  await expect(blocked).rejects.toThrow('enough')
})

describe('an engine process that is killed', () => {
  it('is replaced, and what it ran is run once more', async () => {
    const engines = await startEngines()
    const before = engines.each[0]!.processId
    const marker = join(await emptyFolder(), 'marker')
    const { files } = await engines.run(await jobOf(killing(marker, 1)), { signal })
    expect(files).toHaveLength(1)
    expect(engines.each[0]!.processId).not.toBe(before)
  })

  it('twice fails the prompt that killed it and no other', async () => {
    const engines = await startEngines()
    const marker = join(await emptyFolder(), 'marker')
    const innocent = [1, 2, 3].map(async () => engines.run(await jobOf(saving(slow(20, 10))), { signal }))
    await new Promise((resolve) => setTimeout(resolve, 50))
    const guilty = engines.run(await jobOf(killing(marker, 9)), { signal })
    await expect(guilty).rejects.toMatchObject({
      code: 'execution-failed',
      message: expect.stringMatching(/^the engine process was killed \(SIGKILL.*twice in a row$/),
    })
    expect(await Promise.all(innocent)).toHaveLength(3)
    expect(await readFile(marker, 'utf8')).toBe('..')
  })

  it('because it is silent is replaced too', async () => {
    const engines = await startEngines({ stallMs: 400 })
    const stuck = engines.run(await jobOf(saving(slow(1, 60_000, true))), { signal })
    await expect(stuck).rejects.toMatchObject({ message: expect.stringContaining('no sign of life for 0.4 s') })
  })

  it('because it blocks for less than that is left alone', async () => {
    const engines = await startEngines({ stallMs: 1200 })
    const before = engines.each[0]!.processId
    await engines.run(await jobOf(saving(slow(4, 400, true))), { signal })
    expect(engines.each[0]!.processId).toBe(before)
  })

  it('at start again and again is started ever more rarely, and prompts fail instead of waiting', async () => {
    const folder = await emptyFolder()
    const starts = join(folder, 'starts')
    const entry = join(folder, 'entry.mjs')
    await writeFile(entry, `(await import('node:fs')).appendFileSync(${JSON.stringify(starts)}, '.')`)
    const options = engineOptions({ entry: pathToFileURL(entry) })
    const engines = createEngines(1, (onState) => [startEngine({ ...options, onState })])
    engines.start()
    const waiting = engines.run(await jobOf(saving(picture())), { signal })
    await expect(waiting).rejects.toThrow('no engine process stays up')
    expect(engines.healthy).toBe(false)
    expect(await readFile(starts, 'utf8')).toBe('.....')
    await engines.close()
  })
})
