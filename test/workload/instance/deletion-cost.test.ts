import { text } from 'node:stream/consumers'
import { expect, it, vi } from 'vitest'
import { silentLog } from '../../../src/common/log.ts'
import { createDeletionCost } from '../../../src/workload/instance/deletion-cost.ts'
import { listen } from '../../support/site.ts'

/** A metadata service that keeps a cost, and answers with `status` when there is one. */
async function service() {
  const state = { cost: 0, status: undefined as number | undefined, puts: [] as number[], gets: 0, atOnce: 0, most: 0 }
  const { port } = await listen(async (request, response) => {
    state.most = Math.max(state.most, ++state.atOnce)
    const body = await text(request)
    expect(request.headers.metadata).toBe('true')
    if (state.status !== undefined) response.writeHead(state.status).end('{}')
    else if (request.method === 'PUT') {
      state.cost = JSON.parse(body).deletion_cost
      state.puts.push(state.cost)
      response.writeHead(204).end()
    } else {
      state.gets++
      response.end(JSON.stringify({ deletion_cost: state.cost }))
    }
    state.atOnce--
  })
  return { uri: `http://127.0.0.1:${port}`, state }
}

async function cost() {
  const { uri, state } = await service()
  const outcomes: string[] = []
  const clock = { ms: 0 }
  const work = { prompts: 0 }
  const kept = createDeletionCost({
    ...{ uri, log: silentLog, now: () => clock.ms },
    wanted: () => work.prompts,
    onRequest: (outcome) => outcomes.push(outcome),
    onCost: () => undefined,
  })
  kept.open()
  await vi.waitFor(() => expect(state.puts).toEqual([0]))
  return { kept, state, outcomes, clock, work }
}

it('tells how many prompts there are, each number once and one request at a time, and 0 in the end', async () => {
  const { kept, state, work } = await cost()
  work.prompts = 3
  await vi.waitFor(() => expect(state.cost).toBe(3))
  work.prompts = 2_000_000
  await vi.waitFor(() => expect(state.cost).toBe(100_000))
  await kept.close()
  expect(state.puts).toEqual([0, 3, 100_000, 0])
  expect(state.most).toBe(1)
})

it('sets a cost again that the service has lost', async () => {
  const { kept, state, clock, work } = await cost()
  work.prompts = 5
  await vi.waitFor(() => expect(state.cost).toBe(5))
  state.cost = 0
  clock.ms += 60_001
  await vi.waitFor(() => expect(state.cost).toBe(5))
  expect(state.gets).toBe(1)
  await kept.close()
})

it('tries again after a failure, and tells the number of then', async () => {
  const { kept, state, outcomes, work } = await cost()
  state.status = 500
  work.prompts = 1
  await vi.waitFor(() => expect(outcomes).toContain('failed'))
  work.prompts = 2
  state.status = undefined
  await vi.waitFor(() => expect(state.puts).toEqual([0, 2]))
  await kept.close()
})

it('asks no more for a while when the service does not know the instance', async () => {
  const { kept, state, outcomes, work } = await cost()
  state.status = 404
  work.prompts = 1
  await vi.waitFor(() => expect(outcomes).toEqual(['ok', 'failed']))
  state.status = undefined
  await new Promise((resolve) => setTimeout(resolve, 800))
  expect(outcomes).toEqual(['ok', 'failed'])
  await kept.close()
})
