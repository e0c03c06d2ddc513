import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { admit, keyFileIn } from '../../../src/platform/management/first-tenant.ts'
import { defaultGpuClasses, readGpuClasses } from '../../../src/platform/management/gpu-catalogue.ts'
import { createGpuClassesRoutes } from '../../../src/platform/management/gpu-classes-routes.ts'
import { readSeed, type Seed } from '../../../src/platform/management/seed.ts'
import { serveManagement } from '../../support/management.ts'
import { platformDatabase } from '../../support/platform-database.ts'

const database = platformDatabase()

beforeEach(async () => {
  for (const table of ['memberships', 'users', 'projects', 'organizations'] as const)
    await database().db.deleteFrom(table).execute()
})

async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'easel-'))
  onTestFinished(() => rm(made, { recursive: true, force: true }))
  return made
}

const admitted = async (seed: Seed | undefined, dataDir: string) => admit(database().db, seed, dataDir, Date.now)

/** What the owner of a key is told of an organization. */
async function door() {
  const gpuClasses = createGpuClassesRoutes(defaultGpuClasses)
  const ask = await serveManagement({
    db: database().db,
    routes: { organization: [gpuClasses], project: [gpuClasses] },
  })
  return async (key: string, path: string) =>
    (await ask(`GET /organizations/${path}/gpu-classes`, { headers: { 'service-api-key': key } })).status
}

const ann = { name: 'ann', api_key: 'the key of ann, long' }
const bob = { name: 'bob', api_key: 'the key of bob, long' }

describe('without a seed', () => {
  it('the first start makes an organization, and a key that later ones still know', async () => {
    const dataDir = await folder()
    const first = await admitted(undefined, dataDir)
    expect(first).toEqual({ organization: 'demo', project: 'demo', key: expect.any(String), isNew: true })
    expect(await admitted(undefined, dataDir)).toEqual({ ...first, isNew: false })
    expect((await stat(keyFileIn(dataDir))).mode & 0o077).toBe(0)
    const status = await door()
    expect([await status(first.key!, 'demo'), await status(first.key!, 'demo/projects/demo')]).toEqual([200, 200])
    const { key_digest } = await database().db.selectFrom('users').selectAll().executeTakeFirstOrThrow()
    expect(key_digest).toMatch(/^[\da-f]{64}$/)
  })

  it('another start on the same records, from an empty folder, changes no key', async () => {
    const { key } = await admitted(undefined, await folder())
    expect(await admitted(undefined, await folder())).toMatchObject({ key: undefined, isNew: false })
    expect(await (await door())(key!, 'demo')).toBe(200)
  })
})

describe('a seed', () => {
  it('lets in who it names, and from then on nobody else', async () => {
    const dataDir = await folder()
    const both = { name: 'both', projects: ['one', 'two'], members: ['ann', 'bob'] }
    const hers = { name: 'hers', projects: ['one'], members: ['ann'] }
    const introduced = await admitted({ organizations: [both, hers], users: [ann, bob] }, dataDir)
    expect(introduced).toEqual({ organization: 'both', project: 'one', key: ann.api_key, isNew: false })
    const status = await door()
    const seen = (path: string) => Promise.all([ann, bob].map(({ api_key }) => status(api_key, path)))
    expect(await seen('both/projects/two')).toEqual([200, 200])
    expect(await seen('hers')).toEqual([200, 403])

    const newKey = { name: 'ann', api_key: 'another key of ann' }
    await admitted({ organizations: [{ ...hers, members: ['ann'] }], users: [newKey] }, dataDir)
    expect(await seen('hers')).toEqual([401, 401])
    expect([await status(newKey.api_key, 'hers'), await status(newKey.api_key, 'both')]).toEqual([200, 403])
    expect(await readFile(keyFileIn(dataDir), 'utf8')).toBe(newKey.api_key)
  })

  it('may tell only the digest of a key', async () => {
    const api_key_sha256 = '2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b' // of "secret"
    const seed: Seed = {
      organizations: [{ name: 'acme', projects: [], members: ['ann'] }],
      users: [{ name: 'ann', api_key_sha256 }],
    }
    expect(await admitted(seed, await folder())).toMatchObject({ project: undefined, key: undefined })
    expect(await (await door())('secret', 'acme')).toBe(200)
  })

  it.each([
    [
      'a member that is no user',
      { organizations: [{ name: 'acme', members: ['ann'] }], users: [] },
      /one of the users/,
    ],
    ['a name no path can have', { organizations: [{ name: 'Acme' }], users: [] }, /organizations\[0\]\.name/],
    ['a misspelt member', { organizations: [{ name: 'acme', project: [] }], users: [] }, /project/],
    ['a key that can be guessed', { organizations: [{ name: 'acme' }], users: [{ name: 'a', api_key: '1' }] }, /users/],
  ])('with %s is refused, and its file named', async (_what, seed, fault) => {
    const file = join(await folder(), 'seed.json')
    await writeFile(file, JSON.stringify(seed))
    const error = await readSeed(file).catch((reason: Error) => reason.message)
    expect(error).toContain(file)
    expect(error).toMatch(fault)
  })
})

describe('a catalogue of the operator', () => {
  it('replaces ours', async () => {
    const file = join(await folder(), 'classes.json')
    const [first, ...rest] = defaultGpuClasses
    await writeFile(file, JSON.stringify([...rest, { ...first, name: 'ZX 81', gpu_class_type: 'secure' }]))
    expect((await readGpuClasses(file)).at(-1)).toMatchObject({ id: first!.id, name: 'ZX 81' })
  })

  it('is refused when an id or a price is there twice, and its file named', async () => {
    const file = join(await folder(), 'classes.json')
    const [first] = defaultGpuClasses
    for (const classes of [[first, first], [{ ...first, prices: [first!.prices[0], first!.prices[0]] }]]) {
      await writeFile(file, JSON.stringify(classes))
      await expect(readGpuClasses(file)).rejects.toThrow(file)
    }
  })
})
