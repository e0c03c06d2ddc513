import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { describe, expect, it, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { createAudience } from '../../../src/workload/engine/audience.ts'
import type { NodeEvent } from '../../../src/workload/engine/protocol.ts'
import { createClients } from '../../../src/workload/http/comfy/clients.ts'
import { createComfyDesk } from '../../../src/workload/http/comfy/comfy-desk.ts'
import { jobEventsRoute } from '../../../src/workload/http/routes/job-events.ts'
import { createUpgradeHandler } from '../../../src/workload/http/upgrade.ts'
import { createJobHistory } from '../../../src/workload/jobs/job-history.ts'
import type { Jobs } from '../../../src/workload/jobs/jobs.ts'
import type { WatchedJob } from '../../../src/workload/jobs/watchers.ts'
import { picture, saving } from '../../support/prompts.ts'

const jpeg = Uint8Array.of(0xff, 0xd8, 7, 0xff, 0xd9)
const preview = (value: number): NodeEvent => ({ kind: 'preview', node: '5', at: 0, value, max: 9, preview: jpeg })
const prompt = saving(picture())

async function listening(server: ReturnType<typeof createServer>): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    server.close()
    server.closeAllConnections()
  })
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** The first message of a client that knows previews. */
const able = { type: 'feature_flags', data: { supports_preview_metadata: true } }

describe('on the socket', () => {
  /** ComfyUI's desk behind a socket, and a prompt of the client `me` before it. */
  async function setUp(extra_data: Readonly<Record<string, string>> = { preview_method: 'auto' }) {
    const clients = createClients(1000)
    const desk = createComfyDesk(clients, () => 5)
    const server = createServer()
    server.on('upgrade', createUpgradeHandler(clients, undefined))
    const host = await listening(server)
    const connect = async (id: string, hello?: object) => {
      const socket = new WebSocket(`ws://${host}/ws?clientId=${id}`)
      const binary: Buffer[] = []
      const texts: { readonly type: string; readonly data: unknown }[] = []
      socket.on('message', (data: Buffer, isBinary) => {
        if (isBinary) binary.push(data)
        else texts.push(JSON.parse(String(data)))
      })
      await expect.poll(() => texts.length).toBe(1)
      if (hello) {
        socket.send(JSON.stringify(hello))
        await expect.poll(() => texts.at(-1)!.type).toBe('feature_flags')
      }
      const close = async () => {
        socket.close()
        await once(socket, 'close')
      }
      onTestFinished(() => socket.terminate())
      return { socket, binary, texts, close }
    }
    const history = { ...createJobHistory('p1', prompt, () => 5), audience: createAudience() }
    const job: WatchedJob = {
      id: 'p1',
      number: 1,
      submission: { clientId: 'me', number: undefined, front: false, targets: undefined },
      request: { prompt, extra_data },
      created: 0,
      history,
    }
    const begin = () => {
      desk.watcher.queued(job, { prompt, outputs: ['out'], nodeErrors: {} })
      desk.watcher.started(job)
    }
    return { desk, job, connect, begin, audience: history.audience }
  }

  it('go to the client that asked for them with its prompt and to no other, as kind, picture kind and picture', async () => {
    const { desk, job, connect, begin } = await setUp()
    const [me, other] = [await connect('me'), await connect('other')]
    begin()
    desk.watcher.event(job, preview(3))
    await expect.poll(() => me.binary.length).toBe(1)
    expect([...me.binary[0]!]).toEqual([0, 0, 0, 1, 0, 0, 0, 1, ...jpeg])
    expect(other.binary).toEqual([])
  })

  it('say what they are of to a client that asked for it', async () => {
    const { desk, job, connect, begin } = await setUp()
    const me = await connect('me', able)
    begin()
    desk.watcher.event(job, preview(3))
    await expect.poll(() => me.binary.length).toBe(1)
    const [frame] = me.binary as [Buffer]
    const length = frame.readUInt32BE(4)
    expect([...frame.subarray(0, 4)]).toEqual([0, 0, 0, 4])
    expect(JSON.parse(frame.subarray(8, 8 + length).toString())).toEqual({
      node_id: '5',
      prompt_id: 'p1',
      display_node_id: '5',
      parent_node_id: null,
      real_node_id: '5',
      image_type: 'image/jpeg',
    })
    expect([...frame.subarray(8 + length)]).toEqual([...jpeg])
  })

  it.each([{ type: 'feature_flags', data: { supports_preview_metadata: false } }, { type: 'feature_flags' }])(
    'stay plain after %j',
    async (hello) => {
      const { desk, job, connect, begin } = await setUp()
      const me = await connect('me', hello)
      begin()
      desk.watcher.event(job, preview(3))
      await expect.poll(() => me.binary.length).toBe(1)
      expect(me.binary[0]!.readUInt32BE(0)).toBe(1)
    },
  )

  it('are left out while the client is slow', async () => {
    const { desk, job, connect, begin } = await setUp()
    const me = await connect('me')
    begin()
    me.socket.pause()
    const large = { ...preview(1), preview: new Uint8Array(2 ** 19) }
    for (let i = 0; i < 100; i++) desk.watcher.event(job, large)
    me.socket.resume()
    desk.watcher.ended(job, undefined)
    await expect.poll(() => me.texts.at(-1)).toMatchObject({ type: 'executing' })
    expect(me.binary.length).toBeGreaterThan(0)
    expect(me.binary.length).toBeLessThan(100)
  })

  it('are wanted while the client is there, whenever it comes, and until the prompt ends', async () => {
    const { desk, job, connect, begin, audience } = await setUp()
    begin()
    expect(audience.present).toBe(false)
    const me = await connect('me')
    expect(audience.present).toBe(true)
    const again = await connect('me') // takes the place of the first
    await me.close()
    expect(audience.present).toBe(true)
    await again.close()
    await expect.poll(() => audience.present).toBe(false)
    await connect('me')
    expect(audience.present).toBe(true)
    desk.watcher.ended(job, undefined)
    expect(audience.present).toBe(false)
  })

  it.each([
    ['none', able, false],
    ['latent2rgb', undefined, true],
    ['taesd', able, true],
    ['default', able, true],
    ['default', undefined, false],
    [undefined, able, true],
    [undefined, undefined, false],
  ])('with the preview method %s after %j: %s', async (preview_method, hello, wanted) => {
    const { desk, job, connect, begin, audience } = await setUp(preview_method === undefined ? {} : { preview_method })
    begin()
    const me = await connect('me', hello)
    expect(audience.present).toBe(wanted)
    desk.watcher.event(job, preview(1)) // for somebody else
    desk.watcher.ended(job, undefined)
    await expect.poll(() => me.texts.at(-1)).toMatchObject({ type: 'executing' })
    expect(me.binary).toHaveLength(wanted ? 1 : 0)
  })
})

describe('among the events of a job', () => {
  async function setUp() {
    const history = createJobHistory('p1', prompt, () => 5)
    history.start()
    const jobs: Pick<Jobs, 'view' | 'follow'> = {
      view: async () => ({ record: { id: 'p1' } }) as Awaited<ReturnType<Jobs['view']>>,
      follow: (_id, after, signal, previews) => history.follow(after, signal, previews),
    }
    const host = await listening(createServer(express().use(jobEventsRoute(jobs as Jobs))))
    /** The events of one stream, which grow until `over`. */
    const follow = (query = '', headers = {}, signal = new AbortController().signal) => {
      const told: { readonly id: number; readonly name: string; readonly data: unknown }[] = []
      const read = async () => {
        const { body } = await fetch(`http://${host}/jobs/p1/events${query}`, { headers, signal })
        let text = ''
        for await (const piece of body!.pipeThrough(new TextDecoderStream())) {
          const blocks = (text + piece).split('\n\n')
          text = blocks.pop()!
          for (const block of blocks.filter((each) => each.includes('data: ')))
            told.push({
              id: Number(/^id: (\d+)$/m.exec(block)?.[1] ?? 0),
              name: /^event: (.+)$/m.exec(block)![1]!,
              data: JSON.parse(/^data: (.+)$/m.exec(block)![1]!),
            })
        }
      }
      return { told, over: read() }
    }
    return { history, follow }
  }

  const namesOf = ({ told }: { readonly told: readonly { readonly name: string }[] }) => told.map(({ name }) => name)

  it('they come as they are made, one at most to those who come late, none once it has ended', async () => {
    const { history, follow } = await setUp()
    for (const value of [1, 2, 3]) history.note(preview(value))
    const [late, resumed, blind] = [follow(), follow('', { 'last-event-id': '4' }), follow('?previews=false')]
    await expect
      .poll(() => [late, resumed, blind].map(namesOf))
      .toEqual([['status', 'execution_start', 'preview'], ['status'], ['status', 'execution_start']])
    history.note(preview(4))
    await expect.poll(() => [late, resumed].map(({ told }) => told.at(-1)!.id)).toEqual([5, 5])
    history.end('complete', { outputs: [0] })
    const after = follow()
    await Promise.all([late, resumed, blind, after].map(({ over }) => over))
    expect(late.told.map(({ id, name }) => [id, name])).toEqual([
      [0, 'status'],
      [1, 'execution_start'],
      [4, 'preview'],
      [5, 'preview'],
      [6, 'complete'],
    ])
    expect(late.told[3]!.data).toEqual({
      prompt_id: 'p1',
      node: '5',
      value: 4,
      max: 9,
      image: Buffer.from(jpeg).toString('base64'),
      mime_type: 'image/jpeg',
    })
    expect(resumed.told.map(({ id }) => id)).toEqual([0, 5, 6])
    for (const stream of [blind, after]) expect(namesOf(stream)).toEqual(['status', 'execution_start', 'complete'])
    expect(history.audience.present).toBe(false)
  })

  it('they are wanted while somebody follows who did not do without', async () => {
    const { history, follow } = await setUp()
    const gone = new AbortController()
    const blind = follow('?previews=false', {}, gone.signal)
    await expect.poll(() => blind.told.length).toBe(2)
    expect(history.audience.present).toBe(false)
    const seeing = follow('', {}, gone.signal)
    await expect.poll(() => history.audience.present).toBe(true)
    gone.abort()
    await Promise.allSettled([blind.over, seeing.over])
    await expect.poll(() => history.audience.present).toBe(false)
  })
})
