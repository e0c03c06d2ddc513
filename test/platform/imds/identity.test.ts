import { Router } from 'express'
import { createLocalJWKSet, decodeProtectedHeader, type JSONWebKeySet, jwtVerify, SignJWT } from 'jose'
import { beforeEach, expect, it } from 'vitest'
import { silentLog } from '../../../src/common/log.ts'
import { imdsTokenSchema } from '../../../src/contracts/platform/imds.ts'
import { createImdsApp } from '../../../src/platform/imds/app.ts'
import { createIdentityTokens } from '../../../src/platform/imds/identity-tokens.ts'
import { weekly } from '../../../src/platform/imds/key-schedule.ts'
import { createKeySetRoutes } from '../../../src/platform/imds/key-set-routes.ts'
import { createSigningKeys } from '../../../src/platform/imds/signing-keys.ts'
import { createManagementApp } from '../../../src/platform/management/app.ts'
import { createIdentityToken } from '../../../src/workload/instance/identity-token.ts'
import { managementParts } from '../../support/management.ts'
import { platformDatabase } from '../../support/platform-database.ts'
import { identity, served } from './ask.ts'

const database = platformDatabase()
beforeEach(async () => {
  await database().db.deleteFrom('signing_keys').execute()
})

const START = Date.parse('2025-01-06T00:00:00.000Z')
const MINUTE = 60_000
const DAY = 1440 * MINUTE
const { signal } = new AbortController()

/** A process of the platform: its keys and tokens, and the day its clock shows. */
function platform(issuer = 'https://api.example.com') {
  const clock = { now: START }
  const now = () => clock.now
  const keys = createSigningKeys({ db: database().db, now, schedule: weekly })
  const tokens = createIdentityTokens({ keys, now, issuer, lifetimeSeconds: 300 })
  const kids = async () => (await keys.published()).map(({ kid }) => kid.replace(/^workload-(.*)T00:00:00.000Z$/, '$1'))
  const signer = async () => decodeProtectedHeader(await tokens.issue(identity)).kid?.slice('workload-'.length, 19)
  return { clock, now, keys, tokens, kids, signer }
}

it('serves a key set that verifies its tokens, and shows nothing private', async () => {
  const { keys, tokens, now } = platform()
  const routes = { open: [createKeySetRoutes(keys)], organization: [Router()] }
  const settings = { baseUrl: 'https://api.example.com', requestsPerMinute: 0 }
  const { ask } = await served(
    createManagementApp({ ...managementParts(database().db, now), log: silentLog, settings, routes }),
  )
  const { status, headers, body } = await ask('/.well-known/workload-jwks.json', { headers: [] })
  expect(status).toBe(200)
  expect(headers['cache-control']).toBe('public, max-age=600')
  const key = { kty: 'EC', crv: 'P-256', x: expect.any(String), y: expect.any(String), use: 'sig' }
  expect(body).toEqual({
    keys: [
      { ...key, kid: 'workload-2024-12-30T00:00:00.000Z' },
      { ...key, kid: 'workload-2025-01-06T00:00:00.000Z' },
    ],
  })
  const other = await ask('/.well-known/workload-jwks.json', { headers: [], method: 'POST' })
  expect([other.status, other.headers.allow]).toEqual([405, 'GET, HEAD'])

  const set = createLocalJWKSet(body as JSONWebKeySet)
  const { payload, protectedHeader } = await jwtVerify(await tokens.issue(identity), set, {
    currentDate: new Date(START),
  })
  expect(protectedHeader).toEqual({ alg: 'ES256', kid: 'workload-2024-12-30T00:00:00.000Z', typ: 'JWT' })
  expect(payload).toEqual({
    iss: 'https://api.example.com',
    sub: identity.machine_id,
    aud: identity.organization_id,
    jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
    iat: START / 1000,
    nbf: START / 1000,
    exp: START / 1000 + 300,
    ...identity,
  })
})

it('replaces a key each week, and signs with one that has been known for a week', async () => {
  const { clock, kids, signer } = platform()
  expect([await kids(), await signer()]).toEqual([['2024-12-30', '2025-01-06'], '2024-12-30'])
  clock.now = START + 7 * DAY - 10 * MINUTE - 1
  expect([await kids(), await signer()]).toEqual([['2024-12-30', '2025-01-06'], '2024-12-30'])
  clock.now += 1
  expect([await kids(), await signer()]).toEqual([['2024-12-30', '2025-01-06'], '2025-01-06'])
  clock.now = START + 7 * DAY
  expect([await kids(), await signer()]).toEqual([['2025-01-06', '2025-01-13'], '2025-01-06'])
  clock.now = START + 14 * DAY - 10 * MINUTE
  expect([await kids(), await signer()]).toEqual([['2025-01-06', '2025-01-13'], '2025-01-13'])
  expect(await database().db.selectFrom('signing_keys').select('kid').execute()).toHaveLength(2)
})

it('lets every token be verified from its first moment to its last, through all changes of keys', async () => {
  const { clock, tokens } = platform()
  for (const week of [1, 2])
    for (const minute of [-15, -11, -10, -5, -4, -1, 0, 1]) {
      const issued = START + week * 7 * DAY + minute * MINUTE
      clock.now = issued - 1
      const before = await tokens.issue(identity)
      clock.now = issued
      const jwt = await tokens.issue(identity)
      expect(await tokens.verify(jwt)).toMatchObject(identity)
      clock.now = issued + 5 * MINUTE - 1000
      expect(await tokens.verify(before)).toMatchObject(identity)
      expect(await tokens.verify(jwt)).toMatchObject(identity)
    }
})

it('keeps its keys over a restart and shares them between processes that start at once', async () => {
  const [one, two] = [platform(), platform()]
  const [jwt] = await Promise.all([one.tokens.issue(identity), two.tokens.issue(identity)])
  expect(await two.tokens.verify(jwt)).toMatchObject(identity)
  expect(await platform().tokens.verify(jwt)).toMatchObject(identity)
  one.clock.now = two.clock.now = START + 7 * DAY
  expect(await Promise.all([one.kids(), two.kids()])).toEqual(Array(2).fill(['2025-01-06', '2025-01-13']))
})

it('stays on its schedule when nobody looked for days, and starts anew after weeks', async () => {
  await platform().kids()
  const later = platform()
  later.clock.now = START + 9 * DAY
  expect(await later.kids()).toEqual(['2025-01-06', '2025-01-13'])
  const muchLater = platform()
  muchLater.clock.now = START + 70 * DAY
  expect(await muchLater.kids()).toEqual(['2025-03-10', '2025-03-17'])
})

it('verifies with thirty seconds of tolerance, and only what it signed so', async () => {
  const { clock, tokens, keys } = platform()
  const jwt = await tokens.issue(identity)
  const at = async (seconds: number) => {
    clock.now = START + seconds * 1000
    return (await tokens.verify(jwt)) !== undefined
  }
  expect(await Promise.all([-31, -30, 329, 330].map(at))).toEqual([false, true, true, false])
  clock.now = START

  const { kid, privateKey } = await keys.signing()
  const signed = (claims: object, header: object = {}) =>
    new SignJWT({ ...claims }).setProtectedHeader({ alg: 'ES256', kid, ...header }).sign(privateKey)
  const [head, payload, signature] = jwt.split('.')
  const unsigned = Buffer.from('{"alg":"none"}').toString('base64url')
  const wrong = [
    '',
    'no token',
    `${head}.${payload}.`,
    `${unsigned}.${payload}.`,
    `${head}.${Buffer.from(JSON.stringify({ ...identity, exp: 2e9, nbf: 0 })).toString('base64url')}.${signature}`,
    await signed({ ...identity, exp: START }),
    await signed({ ...identity, nbf: 0 }),
    await signed({ ...identity, exp: START, nbf: 0 }, { kid: 'workload-of-another' }),
    await new SignJWT({ ...identity, exp: START, nbf: 0 })
      .setProtectedHeader({ alg: 'HS256', kid })
      .sign(Buffer.from(JSON.stringify((await keys.published())[0]!.publicJwk))),
  ]
  for (const each of wrong) expect(await tokens.verify(each), each).toBeUndefined()
})

it('fails to verify, rather than refuse, while the keys cannot be read', async () => {
  const away = () => Promise.reject(new Error('the database is away'))
  const { tokens, now } = platform()
  const jwt = await tokens.issue(identity)
  const keys = { published: away, signing: away }
  const blind = createIdentityTokens({ keys, now, issuer: 'https://api.example.com', lifetimeSeconds: 300 })
  await expect(blind.verify(jwt)).rejects.toThrow('the database is away')
})

it('stays within what clients take with the longest names, and refuses an issuer that would not', async () => {
  const names = { workload_name: 'w'.repeat(63), organization_name: 'o'.repeat(63) }
  const issuer = `https://${'i'.repeat(72)}`
  const jwt = await platform(issuer).tokens.issue({ ...identity, ...names })
  expect(imdsTokenSchema.parse({ jwt }).jwt.length).toBeGreaterThan(980)
  expect(() => platform(`${issuer}i`)).toThrow(RangeError)
})

it("serves the workload's client, through the metadata service", async () => {
  const { clock, now, tokens } = platform()
  const nobody = async () => undefined
  const actions = { setDeletionCost: nobody, recreate: nobody, restart: nobody, reallocate: nobody }
  const view = { identity, status: { ready: true, started: true }, deletion_cost: 0 }
  const instance = { view: async () => view, ...actions }
  const baseUrl = 'https://api.example.com'
  const { uri } = await served(createImdsApp({ instance, tokens, cacheSeconds: 180, baseUrl, now, log: silentLog }))
  const token = createIdentityToken(uri, now)
  const first = await token(signal)
  expect(await tokens.verify(first)).toMatchObject(identity)
  clock.now += 241_000
  const second = await token(signal)
  expect(second).not.toBe(first)
  expect(await tokens.verify(second)).toMatchObject(identity)
})
