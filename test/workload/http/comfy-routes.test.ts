import { randomUUID } from 'node:crypto'
import sharp from 'sharp'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { comfyRequests, type Json } from '../../support/comfy-requests.ts'
import { node, picture, saving, slow } from '../../support/prompts.ts'
import { type Server, startServer } from '../../support/server.ts'

let server: Server
beforeAll(async () => {
  server = await startServer({
    MAX_CONCURRENT_PROMPTS: '1',
    MAX_QUEUE_DEPTH: '6',
  })
})
afterAll(async () => void (await server.stop()))

const { get, post, submit, historyOf, over } = comfyRequests(() => server)

it('answers a prompt at once and has its outputs in the history later', async () => {
  const prompt_id = randomUUID()
  const prompt = { ...saving(picture()), show: node('PreviewImage', { images: ['image', 0] }) }
  const sent = { prompt_id, extra_data: { extra_pnginfo: { workflow: { x: 1 } }, api_key_comfy_org: 'secret' } }
  const [status, answer] = await submit(prompt, sent)
  expect([status, answer]).toEqual([200, { prompt_id, number: expect.any(Number), node_errors: {} }])
  const entry = await over(prompt_id)
  const extra = { extra_pnginfo: { workflow: { x: 1 } }, client_id: 'me', create_time: expect.any(Number) }
  expect(entry).toEqual({
    prompt: [answer.number, prompt_id, prompt, extra, ['out', 'show']],
    outputs: {
      out: { images: [{ filename: `${prompt_id}_test_00001_.png`, subfolder: '', type: 'output' }] },
      show: { images: [{ filename: `${prompt_id}_ComfyUI_temp_00001_.png`, subfolder: '', type: 'temp' }] },
    },
    status: {
      status_str: 'success',
      completed: true,
      messages: ['execution_start', 'execution_cached', 'execution_success'].map((name) => [
        name,
        expect.objectContaining({ prompt_id }),
      ]),
    },
    meta: Object.fromEntries(
      ['out', 'show'].map((id) => [id, { node_id: id, display_node: id, parent_node: null, real_node_id: id }]),
    ),
  })
  for (const type of ['output', 'temp']) {
    const name = type === 'output' ? `${prompt_id}_test_00001_.png` : `${prompt_id}_ComfyUI_temp_00001_.png`
    const file = await fetch(`${server.url}/api/view?filename=${name}&type=${type}&subfolder=`)
    expect([file.status, file.headers.get('content-type')]).toEqual([200, 'image/png'])
    expect(file.headers.get('content-disposition')).toBe(`filename="${name}"`)
    expect(await sharp(Buffer.from(await file.arrayBuffer())).metadata()).toMatchObject({ width: 16, height: 16 })
  }
  expect((await get(`/jobs/${prompt_id}`))[1]).toMatchObject({ status: 'succeeded', images: [expect.any(String)] })
})

it('takes prompts whose only outputs are previews, and scripts that do not say that they send JSON', async () => {
  const prompt = { image: picture(), show: node('PreviewImage', { images: ['image', 0] }) }
  const script = { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' } }
  const send = (path: string, body: Json) => fetch(server.url + path, { ...script, body: JSON.stringify(body) })
  for (const response of [await send('/prompt', { prompt, client_id: 'me' }), await send('/api/prompt', { prompt })]) {
    expect(response.status).toBe(200)
    await over(((await response.json()) as { prompt_id: string }).prompt_id)
  }
  expect((await send('/prompt', { prompt })).status).toBe(415)
})

it('refuses prompts in the words of upstream', async () => {
  const refused = async (prompt: unknown, more: Json = {}) => {
    const [status, body] = await submit(prompt, more)
    expect(Object.keys(body)).toEqual(['error', 'node_errors'])
    return [status, body.error, body.node_errors]
  }
  const fault = (type: string, message: string, details: string, extra_info = {}) => ({
    type,
    message,
    details,
    extra_info,
  })
  expect(await refused(undefined)).toEqual([400, fault('no_prompt', 'No prompt provided', 'No prompt provided'), {}])
  expect(await refused({})).toEqual([400, fault('prompt_no_outputs', 'Prompt has no outputs', ''), {}])
  expect(await refused({ 1: { inputs: {} } })).toEqual([
    400,
    fault(
      'missing_node_type',
      "Node 'ID #1' has no class_type. The workflow may be corrupted or a custom node is missing.",
      "Node ID '#1'",
      { node_id: '1', class_type: null, node_title: null },
    ),
    {},
  ])
  expect(await refused({ 1: node('Nope') })).toMatchObject([400, { type: 'missing_node_type' }, {}])
  expect(await refused(saving(picture()), { prompt_id: 'mine' })).toMatchObject([
    400,
    { type: 'invalid_prompt_id' },
    {},
  ])
  expect(await refused(saving({ ...picture(), inputs: { ...picture().inputs, width: 'wide' } }))).toMatchObject([
    400,
    { type: 'prompt_outputs_failed_validation' },
    { image: { errors: [{ type: 'invalid_input_type' }], dependent_outputs: ['out'], class_type: 'TestPicture' } },
  ])
  expect(await refused(saving(node('LoadImage', { image: 'nope.png' })))).toMatchObject([
    400,
    { type: 'prompt_outputs_failed_validation' },
    { image: { errors: [{ type: 'custom_validation_failed', extra_info: { input_name: 'image' } }] } },
  ])
  for (const wrong of [{ number: 'first' }, { client_id: 5 }, { partial_execution_targets: 'out' }, { prompt: 5 }])
    expect(await refused(saving(picture()), wrong)).toMatchObject([400, { type: 'invalid_request' }, {}])
  const before = Object.keys((await get('/history'))[1]).length
  expect(before).toBe(Object.keys((await get('/api/history'))[1]).length)
})

it('runs only the outputs that are asked for, and says which others cannot run', async () => {
  const two = {
    ...saving(picture()),
    bad: node('TestSave', { images: ['gone', 0] }),
    also: node('TestPreview', { images: ['image', 0] }),
  }
  const [, all] = await submit(two)
  expect(all.node_errors).toHaveProperty('bad')
  const [, some] = await submit(two, { partial_execution_targets: ['out'] })
  expect(some.node_errors).toEqual({})
  expect(Object.keys((await over(some.prompt_id)).outputs as Json)).toEqual(['out'])
  expect((await submit(two, { partial_execution_targets: [] }))[1].error).toMatchObject({ type: 'prompt_no_outputs' })
})

it('queues by number, shows the queue, and takes prompts out of it', async () => {
  const [, running] = await submit(saving(slow(1000, 20)))
  await expect.poll(async () => (await get('/queue'))[1].queue_running).toHaveLength(1)
  const [, late] = await submit(saving(picture()))
  const [, early] = await submit(saving(picture()), { number: -5.5 })
  const [, front] = await submit(saving(picture()), { front: true })
  expect([early.number, front.number]).toEqual([-5.5, -(late.number + 1)])
  const { queue_running, queue_pending } = (await get('/api/queue'))[1] as Record<string, unknown[][]>
  expect(queue_running!.map(([number, id, , , outputs]) => [number, id, outputs])).toEqual([
    [running.number, running.prompt_id, ['out']],
  ])
  const ids = (queue_pending ?? []).map(([, id]) => id)
  const [first, second] = -5.5 < front.number ? [early, front] : [front, early]
  expect(ids).toEqual([first.prompt_id, second.prompt_id, late.prompt_id])
  expect(await get('/prompt')).toEqual([200, { exec_info: { queue_remaining: 4 } }])

  expect((await post('/queue', { delete: [early.prompt_id, running.prompt_id, 'nobody'] })).status).toBe(200)
  await expect.poll(async () => ((await get('/queue'))[1].queue_pending as unknown[]).length).toBe(2)
  expect(await historyOf(early.prompt_id)).toBeUndefined()

  await post('/api/interrupt', { prompt_id: late.prompt_id }) // it waits, so nothing happens
  expect(((await get('/queue'))[1].queue_pending as unknown[]).length).toBe(2)
  const interrupted = await post('/interrupt')
  expect([interrupted.status, await interrupted.text()]).toEqual([200, ''])
  const { status } = await over(running.prompt_id)
  expect(status).toMatchObject({ status_str: 'error', completed: false })
  expect((status as { messages: unknown[][] }).messages.at(-1)).toEqual([
    'execution_interrupted',
    expect.objectContaining({ prompt_id: running.prompt_id, node_id: 'image', executed: [] }),
  ])
  await Promise.all([over(front.prompt_id), over(late.prompt_id)])

  const [, blocking] = await submit(saving(slow(1000, 20)))
  await submit(saving(picture()))
  await post('/queue', { clear: true })
  await expect.poll(async () => (await get('/queue'))[1].queue_pending).toEqual([])
  expect((await post('/interrupt', { prompt_id: blocking.prompt_id })).status).toBe(200)
  await over(blocking.prompt_id)
  for (const wrong of [{ delete: 5 }, { delete: [5] }, [], 5]) expect((await post('/queue', wrong)).status).toBe(400)
  expect((await post('/interrupt', { prompt_id: 5 })).status).toBe(400)
})

it('tells the same prompt under the same id once, and refuses another under that id', async () => {
  const prompt_id = randomUUID()
  const prompt = saving(picture())
  const [, first] = await submit(prompt, { prompt_id })
  expect((await submit(prompt, { prompt_id }))[1]).toEqual(first)
  const [status, { error }] = await submit(saving(picture()), { prompt_id })
  expect([status, error]).toMatchObject([409, { type: 'id_conflict' }])
})

it('refuses more prompts than it may queue', async () => {
  const all = await Promise.all(
    Array.from({ length: 8 }, () => server.post({ prompt: saving(slow(50, 10)), client_id: 'me' })),
  )
  const refused = all.filter(({ status }) => status === 429)
  expect(refused).toHaveLength(2)
  expect(refused[0]!.headers.get('retry-after')).toMatch(/^\d+$/)
  expect(await refused[0]!.json()).toMatchObject({ error: { type: 'queue_full' }, node_errors: {} })
  await post('/queue', { clear: true })
  await post('/interrupt')
  await expect.poll(async () => (await get('/prompt'))[1]).toEqual({ exec_info: { queue_remaining: 0 } })
})

it('cuts the history to size and forgets what it is told to', async () => {
  for (const _ of [1, 2, 3]) await over((await submit(saving(picture())))[1].prompt_id)
  const keys = async (query: string) => Object.keys((await get(`/history${query}`))[1])
  const all = await keys('')
  expect(await keys('?max_items=2')).toEqual(all.slice(-2))
  expect(await keys('?max_items=2&offset=0')).toEqual(all.slice(0, 2))
  expect(await keys('?offset=1')).toEqual(all.slice(1))
  expect(await keys('?max_items=many')).toEqual(all)
  await post('/history', { delete: [all[0]] })
  expect(await keys('')).toEqual(all.slice(1))
  expect((await get(`/jobs/${all[0]}?result=false`))[0]).toBe(200)
  await post('/api/history', { clear: true })
  expect(await get('/history')).toEqual([200, {}])
  expect(await get('/history/nobody')).toEqual([200, {}])
  expect((await post('/history', { delete: 'x' })).status).toBe(400)
})

it('gives memory back and runs on', async () => {
  const prompt = saving(picture())
  await over((await submit(prompt))[1].prompt_id)
  expect((await post('/free', { unload_models: true, free_memory: true })).status).toBe(200)
  const { status } = await over((await submit(prompt))[1].prompt_id)
  const [, [, cached]] = (status as { messages: [string, Json][] }).messages as [unknown, [string, Json]]
  expect(cached.nodes).toEqual([])
  expect((await post('/free')).status).toBe(200)
  expect((await post('/free', { free_memory: 'yes' })).status).toBe(400)
})
