import { once } from 'node:events'
import { request } from 'node:http'
import { json } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'
import { silentLog } from '../../../src/common/log.ts'
import { imdsProblemSchema } from '../../../src/contracts/platform/imds.ts'
import { listen } from '../../../src/platform/base/listen.ts'
import type { ImdsInstance } from '../../../src/platform/imds/instance.ts'
import { createMetadataServices } from '../../../src/platform/wiring/metadata-services.ts'
import { BASE_URL } from '../../support/management.ts'

const nothing = async () => undefined
const actions = { setDeletionCost: nothing, recreate: nothing, restart: nothing, reallocate: nothing }

/** An instance that is known by its deletion cost. */
const costing = (deletion_cost: number): ImdsInstance => ({
  view: async () => ({ identity: {} as never, status: { ready: true, started: true }, deletion_cost }),
  ...actions,
})

/** Metadata services, where the addresses of containers are `addresses`. */
async function services(addresses: Readonly<Record<string, string>> = {}) {
  const metadata = createMetadataServices({
    tokens: { issue: async () => 'jwt', verify: async () => undefined },
    ...{ baseUrl: BASE_URL, cacheSeconds: 0, now: Date.now, log: silentLog },
    host: { address: '127.0.0.1', name: '127.0.0.1' },
    instanceAt: (address) => addresses[address],
  })
  const shared = await listen('0.0.0.0', 0)
  shared.answer(metadata.answerAll)
  onTestFinished(async () => void (await Promise.all([shared.close(0), metadata.close()])))
  return { metadata, shared: `http://127.0.0.1:${shared.port}` }
}

/** Asks for the deletion cost, as if from a container with an address. */
async function ask(
  uri: string,
  localAddress = '127.0.0.1',
  headers: Readonly<Record<string, string>> = { Metadata: 'true' },
) {
  const sent = request(`${uri}/v1/deletion-cost`, { headers, localAddress, agent: false })
  sent.end()
  const [response] = await once(sent, 'response')
  const body = (await json(response)) as { readonly deletion_cost?: number; readonly code?: string }
  if (response.statusCode >= 400) imdsProblemSchema.parse(body)
  return body.deletion_cost ?? body.code
}

it('knows nobody by an address that is no container’s, once the headers are right', async () => {
  const { metadata, shared } = await services()
  await metadata.start({ id: 'one', machine_id: 'node' }, costing(1))
  expect(await ask(shared)).toBe('container-not-found')
  expect(await ask(shared, '127.0.0.1', {})).toBe('metadata-header-required')
  const forwarded = { Metadata: 'true', 'X-Forwarded-For': '10.0.0.1' }
  expect(await ask(shared, '127.0.0.1', forwarded)).toBe('forwarded-header-not-allowed')
})

it('answers each node where it asks, and stays there when its instance starts again', async () => {
  const { metadata } = await services()
  const [first, second] = [
    await metadata.start({ id: 'one', machine_id: 'node' }, costing(1)),
    await metadata.start({ id: 'two', machine_id: 'other' }, costing(2)),
  ]
  expect([await ask(first), await ask(second)]).toEqual([1, 2])
  metadata.stop({ id: 'one' })
  expect(await ask(first)).toBe('container-not-found')
  expect(await metadata.start({ id: 'three', machine_id: 'node' }, costing(3))).toBe(first)
  metadata.stop({ id: 'one' }) // told twice, and late
  expect([await ask(first), metadata.urlOf('three'), metadata.urlOf('one')]).toEqual([3, first, undefined])
  metadata.leave('node')
  await expect(ask(first)).rejects.toThrow('ECONNREFUSED')
})

// Only Linux gives the other addresses of 127.0.0.0/8 for nothing.
it.runIf(process.platform === 'linux')('knows containers by their addresses, wherever they ask', async () => {
  const { metadata, shared } = await services({ '127.0.0.8': 'one', '127.0.0.9': 'two' })
  const first = await metadata.start({ id: 'one', machine_id: 'node' }, costing(1))
  const second = await metadata.start({ id: 'two', machine_id: 'other' }, costing(2))
  expect([await ask(shared, '127.0.0.8'), await ask(shared, '127.0.0.9')]).toEqual([1, 2])
  expect([await ask(first, '127.0.0.8'), await ask(second, '127.0.0.9')]).toEqual([1, 2])
  expect(await ask(second, '127.0.0.8')).toBe('container-not-found') // it is not for others
  metadata.stop({ id: 'one' })
  expect(await ask(shared, '127.0.0.8')).toBe('container-not-found')
})
