import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { addTenant } from '../../support/platform-database.ts'
import { ask, formOf, storageBench } from './bench.ts'

const bench = storageBench()

/** `text` with another last character. */
const changed = (text: string) => text.slice(0, -1) + (text.endsWith('0') ? '1' : '0')

async function signedFile() {
  const here = await bench()
  await here.upload('a/b', { file: 'content' })
  const { url } = (await here.sign('a/b', {})).json
  return { ...here, signed: url, token: new URL(url).searchParams.get('token')! }
}

describe('a key', () => {
  it('opens every organization of its user and no other, also when the other is unknown', async () => {
    const { url, base, own, db, tenant } = await bench()
    const other = await addTenant(db, `${tenant.organization.name}-2`)
    expect((await ask('GET', `${base}/files`, own)).status).toBe(200)
    for (const name of [other.organization.name, 'nobody', 'No%20name', '%00', '%ff'])
      expect((await ask('GET', `${url}/organizations/${name}/files`, own)).status).toBe(401)
    await db
      .insertInto('memberships')
      .values({ user_id: tenant.userId, organization_id: other.organization.id })
      .execute()
    expect((await ask('GET', `${url}/organizations/${other.organization.name}/files`, own)).status).toBe(200)
  })

  it('must be there and right', async () => {
    const { base, tenant } = await bench()
    for (const headers of [
      {},
      { 'service-api-key': '' },
      { 'service-api-key': changed(tenant.key) },
      { 'service-api-key': `${tenant.key}, ${tenant.key}` },
      { authorization: tenant.key },
      { authorization: `Basic ${tenant.key}` },
    ]) {
      const answer = await ask('GET', `${base}/files`, headers)
      expect([answer.status, answer.json.title]).toEqual([401, 'Unauthorized'])
    }
  })
})

describe('an identity token', () => {
  it('opens the organization that it names', async () => {
    let name = ''
    const { base, url, db, tenant } = await bench({
      verifyToken: async (jwt) => (jwt === 'good.to.ken' ? { organization_name: name } : undefined),
    })
    name = tenant.organization.name
    const asked = (at: string, scheme: string) => ask('GET', `${at}/files`, { authorization: scheme })
    for (const scheme of ['Bearer good.to.ken', 'bearer  good.to.ken'])
      expect((await asked(base, scheme)).status).toBe(200)
    for (const scheme of ['Bearer good.to.kem', 'Bearer', 'Bearer ', 'good.to.ken', 'Bearer good.to.ken x'])
      expect((await asked(base, scheme)).status).toBe(401)
    const other = await addTenant(db, `${name}-2`)
    expect((await asked(`${url}/organizations/${other.organization.name}`, 'Bearer good.to.ken')).status).toBe(401)
    name = 'nobody'
    expect((await asked(`${url}/organizations/nobody`, 'Bearer good.to.ken')).status).toBe(401)
  })
})

describe('a signed URL', () => {
  it('reads its file without another credential', async () => {
    const { signed, base } = await signedFile()
    expect(signed).toMatch(new RegExp(`^${base}/files/a/b\\?token=[\\da-f-]{36}$`))
    expect(await ask('GET', signed)).toMatchObject({ status: 200, text: 'content' })
    expect(await ask('HEAD', signed)).toMatchObject({ status: 200, text: '' })
  })

  it('works as long as it was made for, and is refused with reasons', async () => {
    const { clock, sign, base, signed, token } = await signedFile()
    const { url: short } = (await sign('a/b', { exp: 60 })).json
    const refusal = async (method: string, url: string) => {
      const { status, json } = await ask(method, url)
      return [status, json.detail]
    }
    const unknown = [401, 'Invalid access token.']
    expect(await refusal('GET', changed(signed))).toEqual(unknown)
    expect(await refusal('GET', `${base}/files/a/b?token=`)).toEqual(unknown)
    expect(await refusal('GET', `${base}/files/a/b?token=${randomUUID()}`)).toEqual(unknown)
    for (const path of ['files/a/c', 'files/a/B', 'files/a', 'files/a/b/', 'files', 'files/%ff'])
      expect(await refusal('GET', `${base}/${path}?token=${token}`)).toEqual([401, 'Access denied.'])
    for (const [method, resource] of [
      ['PUT', 'files'],
      ['DELETE', 'files'],
      ['POST', 'file_tokens'],
      ['PUT', 'file_parts'],
    ])
      expect(await refusal(method!, `${base}/${resource}/a/b?token=${token}`)).toEqual([401, 'Invalid method.'])
    clock.ms += 59_999
    expect((await ask('GET', short)).status).toBe(200)
    clock.ms += 1
    expect(await refusal('GET', short)).toEqual(unknown)
    expect((await ask('GET', signed)).status).toBe(200)
  })

  it('opens nothing of another organization', async () => {
    const { signed, base, token } = await signedFile()
    const there = await bench()
    await there.upload('a/b', { file: 'theirs' })
    const answer = await ask('GET', `${there.base}/files/a/b?token=${token}`)
    expect([answer.status, answer.json.detail]).toEqual([401, 'Access denied.'])
    expect(signed).toContain(base)
  })

  it('decides before a key, and must be there once', async () => {
    const { signed, own, token } = await signedFile()
    expect((await ask('GET', changed(signed), own)).status).toBe(401)
    expect((await ask('GET', `${signed}&token=${token}`)).status).toBe(400)
    expect((await ask('GET', `${signed}&token=${token}`, own)).status).toBe(400)
  })

  it('outlives the file it was made for', async () => {
    const { signed, ask: asMember, upload } = await signedFile()
    await asMember('DELETE', 'files/a/b')
    expect((await ask('GET', signed)).status).toBe(404)
    await upload('a/b', { file: 'another' })
    expect((await ask('GET', signed)).text).toBe('another')
  })

  it('comes with an upload that asks for it', async () => {
    const { upload, clock } = await bench()
    const { url } = (await upload('a', { sign: 'True', signatureExp: '60', file: 'a' })).json
    expect((await ask('GET', url)).text).toBe('a')
    clock.ms += 60_000
    expect((await ask('GET', url)).status).toBe(401)
    for (const sign of ['false', 'yes', ''])
      expect((await upload('a', { sign, file: 'a' })).json.url).not.toContain('token')
  })

  it('is made for whole seconds from a minute to thirty days, as text or number', async () => {
    const { upload, sign, ask: asMember, clock } = await bench()
    await upload('a', { file: 'a' })
    for (const exp of [60, '60', 2_592_000, '2592000', null]) expect((await sign('a', { exp })).status).toBe(200)
    for (const exp of [59, '59', 2_592_001, 60.5, '60.5', '1e3', ' 60', '', true, {}]) {
      const answer = await sign('a', { exp })
      expect([answer.status, answer.json.detail]).toEqual([
        400,
        'exp: must be a whole number of seconds from 60 to 2592000',
      ])
    }
    expect((await sign('a', { method: 'GET', other: 1 })).status).toBe(200)
    expect((await sign('a', { method: 'PUT' })).status).toBe(400)
    const { url } = (await asMember('POST', 'file_tokens/a')).json
    clock.ms += 2_591_999_999
    await upload('a', { file: 'a' })
    expect((await ask('GET', url)).status).toBe(200)
  })

  it('is made for files that are there, asked for in JSON', async () => {
    const { sign, ask: asMember } = await bench()
    expect((await sign('none', {})).json).toMatchObject({ status: 404, detail: 'The file could not be found.' })
    expect((await sign('none', { exp: 1 })).status).toBe(400)
    expect((await asMember('POST', 'file_tokens/none', { 'content-type': 'text/plain' }, '{}')).status).toBe(415)
    expect((await asMember('POST', 'file_tokens/none', { 'content-type': 'application/json' }, '{')).status).toBe(400)
  })

  it('is stored in a form that opens nothing', async () => {
    const { db, token } = await signedFile()
    expect(JSON.stringify(await db.selectFrom('file_tokens').selectAll().execute())).not.toContain(token)
  })
})

it('is checked before the path, the path before the size, the size before the rest', async () => {
  const { base, own } = await bench({ settings: { requestBytes: 1000 } })
  const { headers, body } = formOf({ file: Buffer.alloc(2000) })
  expect((await ask('PUT', `${base}/files/a//b`, headers, body)).status).toBe(401)
  expect((await ask('PUT', `${base}/files/a//b?action=x`, { ...own, ...headers }, body)).status).toBe(400)
  expect((await ask('PUT', `${base}/files/a`, own, body)).status).toBe(413)
  expect((await ask('PUT', `${base}/files/a`, own, 'x')).status).toBe(400)
})
