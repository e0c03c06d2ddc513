import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { createIdentityToken } from '../../../src/workload/instance/identity-token.ts'

const jwtUntil = (exp: number, number: number) =>
  ['{"alg":"ES256"}', JSON.stringify({ exp, number }), 'signature']
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.')

/** A metadata service that gives these answers, one a request. */
async function service(...answers: readonly [status: number, body: object][]) {
  const asked: unknown[] = []
  const server = createServer(({ method, url, headers }, response) => {
    asked.push([method, url, headers.metadata])
    const [status, body] = answers[asked.length - 1]!
    response.writeHead(status).end(JSON.stringify(body))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close().closeAllConnections())
  return { uri: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
}
const { signal } = new AbortController()

it('asks the metadata service once, until shortly before the token ends', async () => {
  const [first, second] = [jwtUntil(300, 1), jwtUntil(600, 2)]
  const { uri, asked } = await service([200, { jwt: first }], [200, { jwt: second }])
  let now = 0
  const token = createIdentityToken(`${uri}/`, () => now)
  expect(await token(signal)).toBe(first)
  now = 200_000
  expect(await token(signal)).toBe(first)
  now = 280_000
  expect(await token(signal)).toBe(second)
  expect(asked).toEqual([
    ['GET', '/v1/token', 'true'],
    ['GET', '/v1/token', 'true'],
  ])
})

it('keeps no token that does not say when it ends', async () => {
  const { uri, asked } = await service([200, { jwt: 'opaque' }], [200, { jwt: 'a.e30.b' }])
  const token = createIdentityToken(uri, () => 0)
  expect([await token(signal), await token(signal)]).toEqual(['opaque', 'a.e30.b'])
  expect(asked).toHaveLength(2)
})

it('says what the metadata service said', async () => {
  const { uri } = await service([403, {}], [200, { token: 'x' }])
  const token = createIdentityToken(uri, () => 0)
  await expect(token(signal)).rejects.toThrow('the metadata service answered 403')
  await expect(token(signal)).rejects.toThrow('jwt')
})
