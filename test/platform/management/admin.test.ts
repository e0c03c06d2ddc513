import { mkdir, stat, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { silentLog } from '../../../src/common/log.ts'
import { createMembers } from '../../../src/platform/base/members.ts'
import { rememberMembers } from '../../../src/platform/base/remember-members.ts'
import { type Admin, createAdmin } from '../../../src/platform/management/admin.ts'
import { adminSocketIn, askAdminSocket, openAdminSocket } from '../../../src/platform/management/admin-socket.ts'
import { admit, keyFileIn } from '../../../src/platform/management/first-tenant.ts'
import { emptyFolder } from '../../support/folder.ts'

import { platformDatabase } from '../../support/platform-database.ts'

const database = platformDatabase()

beforeEach(async () => {
  for (const table of ['memberships', 'users', 'projects', 'organizations'] as const)
    await database().db.deleteFrom(table).execute()
})

const adminOf = (seedFile?: string, onChange?: () => void): Admin =>
  createAdmin({ db: database().db, now: Date.now, seedFile, onChange })

/** Gives a command that is followed, and returns what it prints. */
async function done(line: string, admin = adminOf()): Promise<string> {
  const { code, output, error } = await admin(line.split(' '))
  expect([code, error]).toEqual([0, ''])
  return output
}

const keyIn = (output: string): string => /API key, shown this once: (\S+)\n/.exec(output)![1]!

describe('an administrator', () => {
  it('lets somebody in, and sees whom', async () => {
    expect(await done('organization add acme')).toBe('organization acme added\n')
    expect(await done('project add acme demo')).toBe('project demo added to acme\n')
    const key = keyIn(await done('user add ann'))
    expect(await done('member add acme ann')).toBe('ann is a member of acme now\n')

    const members = createMembers(database().db)
    const [organization, user] = [await members.organization('acme'), await members.userOf(key)]
    expect(await members.isMember(user!.id, organization!.id)).toBe(true)
    expect(await members.project(organization!.id, 'demo')).toMatchObject({ name: 'demo' })
    const { key_digest } = await database().db.selectFrom('users').selectAll().executeTakeFirstOrThrow()
    expect(key_digest).toMatch(/^[\da-f]{64}$/)

    await done('organization add other')
    await done('project add other first')
    expect(await done('organization list')).toBe('acme\nother\n')
    expect(await done('project list')).toBe('acme\tdemo\nother\tfirst\n')
    expect(await done('project list other')).toBe('other\tfirst\n')
    expect(await done('user list')).toBe('ann\n')
    expect(await done('member list')).toBe('acme\tann\n')
    expect(await done('member list other')).toBe('')
  })

  it('replaces a key, and takes a membership back, from one request to the next', async () => {
    const members = rememberMembers(createMembers(database().db))
    const admin = adminOf(undefined, members.forget)
    await done('organization add acme', admin)
    const first = keyIn(await done('user add ann', admin))
    await done('member add acme ann', admin)
    const { id: user } = (await members.userOf(first))!
    const { id: organization } = (await members.organization('acme'))!
    expect(await members.isMember(user, organization)).toBe(true)

    const second = keyIn(await done('user key ann', admin))
    expect(second).not.toBe(first)
    expect([await members.userOf(first), await members.userOf(second)]).toMatchObject([undefined, { name: 'ann' }])
    expect(await done('member remove acme ann', admin)).toBe('ann is no member of acme any more\n')
    expect(await members.isMember(user, organization)).toBe(false)
  })

  it('is answered in JSON when that is asked for', async () => {
    const json = async (line: string): Promise<unknown> => JSON.parse(await done(`${line} --json`))
    const create_time = expect.stringMatching(/^20.*Z$/)
    expect(await json('organization add acme')).toEqual({ organization: 'acme' })
    expect(await json('organization list')).toEqual([{ name: 'acme', create_time }])
    expect(await json('project add acme demo')).toEqual({ organization: 'acme', project: 'demo' })
    expect(await json('project list')).toEqual([{ organization: 'acme', project: 'demo', create_time }])
    expect(await json('user add ann')).toEqual({ user: 'ann', api_key: expect.stringMatching(/^[\w-]{43}$/) })
    expect(await json('user key ann')).toEqual({ user: 'ann', api_key: expect.stringMatching(/^[\w-]{43}$/) })
    expect(await json('user list')).toEqual([{ name: 'ann', has_key: true }])
    expect(await json('member add acme ann')).toEqual({ organization: 'acme', user: 'ann' })
    expect(await json('member list acme')).toEqual([{ organization: 'acme', user: 'ann' }])
    expect(await json('member remove acme ann')).toEqual({ organization: 'acme', user: 'ann' })
  })

  it.each([
    ['organization add Acme', /^organization: must be 2 to 63 lower-case letters/],
    ['organization add acme', /^the organization acme is there already\n$/],
    ['project add acme x', /^project: must be 2 to 63 lower-case letters/],
    ['project add acme demo', /^acme has a project demo already\n$/],
    ['project add nobody demo', /^there is no organization nobody\n$/],
    ['user add a\nb', /^user: must have no control characters\n$/],
    [`user add ${'x'.repeat(256)}`, /^user: must have at most 255 characters\n$/],
    ['user add ann', /^the user ann is there already\n$/],
    ['user key bob', /^there is no user bob\n$/],
    ['member add acme ann', /^ann is a member of acme already\n$/],
    ['member add acme bob', /^there is no user bob\n$/],
    ['member remove acme eve', /^eve is no member of acme\n$/],
    ['member remove nobody ann', /^there is no organization nobody\n$/],
  ])('is refused "%s"', async (line, reason) => {
    for (const before of ['organization add acme', 'project add acme demo', 'user add ann', 'user add eve'])
      await done(before)
    await done('member add acme ann')
    expect(await adminOf()(line.split(' '))).toEqual({ code: 1, output: '', error: expect.stringMatching(reason) })
  })

  it.each([
    ['organization', /^there is no command "organization"\nTry: /],
    ['toString of', /^there is no command "toString of"/],
    ['organization remove acme', /^there is no command "organization remove"/],
    ['organization add', /^"organization add" is followed by NAME/],
    ['organization list acme', /^"organization list" is followed by nothing/],
    ['project list acme demo', /^"project list" is followed by \[ORGANIZATION\]/],
    ['user add ann --admin', /--admin/],
  ])('is not understood with "%s"', async (line, reason) => {
    expect(await adminOf()(line.split(' '))).toEqual({ code: 2, output: '', error: expect.stringMatching(reason) })
  })

  it.each([[[]], [['--help']], [['help']], [['user', 'add', '-h']]])('is helped with %j', async (args) => {
    const { code, output } = await adminOf()(args)
    expect([code, output]).toEqual([
      0,
      expect.stringContaining('With PLATFORM_SEED, the seed is the whole truth again'),
    ])
  })

  it('is told when a seed will undo it', async () => {
    const { code, error } = await adminOf('/seeds/seed.json')(['user', 'add', 'ann'])
    expect([code, error]).toEqual([0, expect.stringContaining('/seeds/seed.json is the whole truth again')])
    expect((await adminOf('/seeds/seed.json')(['user', 'list'])).error).toBe('')
  })
})

describe('a first start', () => {
  it('keeps the keys of users that were added before it', async () => {
    const key = keyIn(await done('user add ann'))
    expect(await admit(database().db, undefined, await emptyFolder(), Date.now)).toMatchObject({ isNew: true })
    expect(await createMembers(database().db).userOf(key)).toMatchObject({ name: 'ann' })
  })

  it('makes nobody beside an organization that was added before it', async () => {
    await done('organization add acme')
    const introduced = await admit(database().db, undefined, await emptyFolder(), Date.now)
    expect(introduced).toEqual({ organization: 'acme', project: undefined, key: undefined, isNew: false })
  })

  it('introduces itself later without the key that has been replaced since', async () => {
    const folder = await emptyFolder()
    await admit(database().db, undefined, folder, Date.now)
    await done('user key demo')
    expect(await admit(database().db, undefined, folder, Date.now)).toMatchObject({ key: undefined, isNew: false })
    expect((await stat(keyFileIn(folder))).size).toBeGreaterThan(0)
  })
})

describe('the socket of a platform', () => {
  async function open(folder: string, admin = adminOf()): Promise<string> {
    const file = adminSocketIn(folder)
    const socket = await openAdminSocket({ file, admin, log: silentLog })
    onTestFinished(() => socket.close())
    return file
  }

  it('takes commands, for its owner alone', async () => {
    const file = await open(await emptyFolder())
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect(await askAdminSocket(file, ['organization', 'add', 'acme'])).toMatchObject({ code: 0 })
    expect(await askAdminSocket(file, ['organization', 'add', 'acme'])).toMatchObject({ code: 1 })
    expect(await done('organization list')).toBe('acme\n')
  })

  it('takes the place of what an earlier platform left', async () => {
    const folder = await emptyFolder()
    expect(await askAdminSocket(adminSocketIn(folder), ['user', 'list'])).toBeUndefined()
    await writeFile(adminSocketIn(folder), '')
    const file = await open(folder)
    expect(await askAdminSocket(file, ['user', 'list'])).toEqual({ code: 0, output: '', error: '' })
  })

  it('is missing where its name would be too long, and nobody minds', async () => {
    const folder = join(await emptyFolder(), 'x'.repeat(120))
    await mkdir(folder)
    const file = adminSocketIn(folder)
    const socket = await openAdminSocket({ file, admin: adminOf(), log: silentLog })
    await socket.close()
    expect(await askAdminSocket(file, ['user', 'list'])).toBeUndefined()
  })

  it('outlives nonsense, and tells nothing of what failed within', async () => {
    const broken: Admin = () => Promise.reject(new Error('the password is 1234'))
    const file = await open(await emptyFolder(), broken)
    expect(await askAdminSocket(file, ['user', 'list'])).toEqual({
      code: 1,
      output: '',
      error: 'something unexpected happened; see the log\n',
    })
    for (const nonsense of ['', '{', '{"a":1}', `["${'x'.repeat(70_000)}"]`]) {
      const socket = connect(file)
      socket.end(nonsense)
      const heard: string[] = []
      for await (const chunk of socket) heard.push(String(chunk))
      expect(JSON.parse(heard.join(''))).toMatchObject({ code: 1 })
    }
  })
})
