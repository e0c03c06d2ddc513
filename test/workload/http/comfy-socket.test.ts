import { afterAll, beforeAll, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { type Frame, type Listener, listen } from '../../support/comfy.ts'
import { node, picture, saving, slow } from '../../support/prompts.ts'
import { type Server, startServer } from '../../support/server.ts'

let server: Server
beforeAll(async () => {
  server = await startServer({ MAX_CONCURRENT_PROMPTS: '1' })
})
afterAll(async () => void (await server.stop()))

const submit = async (prompt: unknown, client_id: string, more = {}) => {
  const response = await server.post({ prompt, client_id, ...more })
  expect(response.status).toBe(200)
  return (await response.json()) as { prompt_id: string; number: number; node_errors: unknown }
}
/** Has `prompt` run for `me` → its id, when all was told. */
const run = async (me: Listener, prompt: unknown) => {
  const { prompt_id } = await submit(prompt, me.id)
  await me.over(prompt_id)
  return prompt_id
}
/** The events of a prompt without those that come or not depending on the clock. */
const plot = ({ frames }: Listener) =>
  frames
    .filter(({ type }) => !type.startsWith('progress'))
    .map(({ type, data }) => (data.node === undefined ? type : `${type} ${data.node}`))
const timeless = ({ type, data: { timestamp, ...data } }: Frame) => ({ type, data, timed: typeof timestamp })

it('tells a prompt from its queue to its end in the order and shapes of upstream', async () => {
  const me = await listen(server)
  expect(me.frames).toEqual([{ type: 'status', data: { status: { exec_info: { queue_remaining: 0 } }, sid: me.id } }])
  const prompt = { ...saving(picture()), show: node('TestPreview', { images: ['image', 0] }) }
  const prompt_id = await run(me, prompt)
  expect(plot(me)).toEqual([
    'status',
    'status',
    'status',
    'execution_start',
    'execution_cached',
    'executing image',
    'executing out',
    'executed out',
    'executing show',
    'executed show',
    'execution_success',
    'status',
    'executing null',
  ])
  const of = (wanted: string) => me.frames.filter(({ type }) => type === wanted)
  expect(of('execution_cached').map(timeless)).toEqual([
    { type: 'execution_cached', data: { nodes: [], prompt_id }, timed: 'number' },
  ])
  expect(of('executing')[0]!.data).toEqual({ node: 'image', display_node: 'image', prompt_id })
  const file = (name: string, type: string) => ({
    images: [{ filename: `${prompt_id}_${name}_00001_.png`, subfolder: '', type }],
  })
  expect(of('executed').map(({ data }) => data)).toEqual([
    { node: 'out', display_node: 'out', output: file('test', 'output'), prompt_id },
    { node: 'show', display_node: 'show', output: file('custom', 'temp'), prompt_id },
  ])
  const states = of('progress_state').map(({ data }) => data.nodes as Record<string, { state: string }>)
  expect(states[0]).toEqual({
    image: {
      value: 0,
      max: 1,
      state: 'running',
      node_id: 'image',
      prompt_id,
      display_node_id: 'image',
      parent_node_id: null,
      real_node_id: 'image',
    },
  })
  expect(Object.values(states.at(-1)!).map(({ state }) => state)).toEqual(['finished', 'finished', 'finished'])
  expect(of('status').map(({ data }) => data.status)).toEqual(
    [0, 1, 1, 0].map((queue_remaining) => ({ exec_info: { queue_remaining } })),
  )
  await me.close()
})

it('tells steps while they happen', async () => {
  const me = await listen(server)
  const prompt_id = await run(me, saving(slow(3, 120)))
  const steps = me.frames.filter(({ type }) => type === 'progress').map(({ data }) => data)
  expect(steps.at(-1)).toEqual({ value: 3, max: 3, prompt_id, node: 'image' })
  await me.close()
})

it('tells what did not have to run in one event, and the outputs of cached nodes again', async () => {
  const me = await listen(server)
  const prompt = saving(picture())
  await run(me, prompt)
  me.frames.length = 0
  await run(me, prompt)
  expect(plot(me)).toEqual([
    'status',
    'status',
    'execution_start',
    'execution_cached',
    'executed out',
    'execution_success',
    'status',
    'executing null',
  ])
  expect(me.frames.find(({ type }) => type === 'execution_cached')!.data.nodes).toEqual(['image', 'out'])
  await me.close()
})

it('tells only the client that asked, and everybody how long the queue is and what was interrupted', async () => {
  const [me, other] = await Promise.all([listen(server), listen(server)])
  const failing = await submit(
    saving(node('TestFails', { image: ['source', 0], message: 'no luck' }), { source: picture() }),
    me.id,
  )
  await me.over(failing.prompt_id)
  expect(timeless(me.frames.find(({ type }) => type === 'execution_error')!)).toEqual({
    type: 'execution_error',
    timed: 'number',
    data: {
      prompt_id: failing.prompt_id,
      node_id: 'image',
      node_type: 'TestFails',
      executed: ['source'],
      exception_message: 'no luck',
      exception_type: 'RuntimeError',
      traceback: [],
      current_inputs: { message: ['no luck'] },
      current_outputs: ['source'],
    },
  })
  const { prompt_id } = await submit(saving(slow(1000, 20)), me.id)
  await me.frame(({ type, data }) => type === 'executing' && data.prompt_id === prompt_id)
  await fetch(`${server.url}/interrupt`, { method: 'POST' })
  const interrupted = await other.frame(({ type }) => type === 'execution_interrupted')
  expect(interrupted.data).toMatchObject({ prompt_id, node_id: 'image', node_type: 'TestSlow', executed: [] })
  await me.over(prompt_id)
  expect(new Set(other.frames.map(({ type }) => type))).toEqual(new Set(['status', 'execution_interrupted']))
  await Promise.all([me.close(), other.close()])
})

it('tells who comes back what runs, and talks to the newest connection of a client', async () => {
  const before = await listen(server)
  const { prompt_id } = await submit(saving(slow(1000, 20)), before.id)
  await before.frame(({ type }) => type === 'executing')
  await before.close()
  const after = await listen(server, before.id, '/api/ws')
  await after.frame(({ type, data }) => type === 'executing' && data.node === 'image')
  const newest = await listen(server, before.id)
  await fetch(`${server.url}/api/interrupt`, {
    method: 'POST',
    body: JSON.stringify({ prompt_id }),
    headers: { 'content-type': 'application/json' },
  })
  await newest.over(prompt_id)
  expect(after.frames.some(({ data }) => data.node === null)).toBe(false)
  await Promise.all([after.close(), newest.close()])
})

it('answers the handshake of features, and nothing to what it does not understand', async () => {
  const me = await listen(server)
  me.socket.send(JSON.stringify({ type: 'feature_flags', data: { supports_preview_metadata: true } }))
  const { data } = await me.frame(({ type }) => type === 'feature_flags')
  expect(data).toEqual({ supports_preview_metadata: true, max_upload_size: 100 * 2 ** 20 })
  const rude = await listen(server)
  rude.socket.send('{')
  rude.socket.send(Buffer.alloc(10))
  expect((await submit(saving(picture()), rude.id)).prompt_id).toMatch(/^[0-9a-f-]{36}$/)
  rude.socket.send('x'.repeat(100_000))
  await new Promise((resolve) => rude.socket.once('close', resolve))
  await me.close()
})

it('names a client that has no name', async () => {
  const me = await listen(server, '')
  expect(me.frames[0]!.data.sid).toMatch(/^[0-9a-f]{32}$/)
  await me.close()
})

it('finishes a prompt whose client has gone', async () => {
  const me = await listen(server)
  const { prompt_id } = await submit(saving(slow(5, 20)), me.id)
  await me.close()
  await expect
    .poll(async () => (await (await fetch(`${server.url}/history/${prompt_id}`)).json()) as Record<string, unknown>)
    .toMatchObject({ [prompt_id]: { status: { status_str: 'success', completed: true } } })
})

it('opens no socket for pages of other sites, at other paths, or without the key', async () => {
  const status = (url: string, headers = {}) =>
    new Promise((resolve) => {
      const socket = new WebSocket(url.replace('http', 'ws'), { headers })
      socket.on('unexpected-response', (_request, response) => resolve(response.statusCode))
      socket.on('open', () => {
        socket.close()
        resolve('open')
      })
      socket.on('error', () => undefined)
    })
  expect(await status(`${server.url}/ws`, { origin: 'https://evil.example' })).toBe(403)
  expect(await status(`${server.url}/ws`, { origin: server.url })).toBe('open')
  expect(await status(`${server.url}/elsewhere`)).toBe(404)
  const locked = await startServer({ API_KEY: 'open sesame' })
  expect(await status(`${locked.url}/ws`)).toBe(403)
  expect(await status(`${locked.url}/ws`, { 'service-api-key': 'open sesame' })).toBe('open')
  const me = await listen(locked, 'me', '/ws', { 'service-api-key': 'open sesame' })
  const gone = new Promise((resolve) => me.socket.once('close', resolve))
  const [code] = await locked.stop()
  expect([code, await gone]).toEqual([0, 1001])
})
