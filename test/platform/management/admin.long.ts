import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { runAdmin } from '../../support/admin-program.ts'
import { emptyFolder } from '../../support/folder.ts'
import { platformFolderIn } from '../../support/platform-database.ts'
import { startPlatform } from '../../support/platform-program.ts'
import { postgresMissing, sharedPostgres } from '../../support/postgres.ts'

const admin = (dataDir: string, ...args: readonly string[]) => runAdmin({ PLATFORM_DATA_DIR: dataDir }, args)

const server = sharedPostgres()
const missing = postgresMissing()

/** A data folder whose platform starts no container groups, which would outlive one that is killed. */
async function dataFolder(): Promise<string> {
  const dataDir = await emptyFolder()
  return dataDir
}

/** One that is followed; resolves with what it says in JSON. */
async function done(dataDir: string, line: string): Promise<Record<string, string>> {
  const { code, output, error } = await admin(dataDir, ...line.split(' '), '--json')
  expect([code, error]).toEqual([0, ''])
  return JSON.parse(output) as Record<string, string>
}

it('commands are followed before the platform runs, while it runs and when it was killed', async () => {
  const dataDir = await dataFolder()
  await platformFolderIn(dataDir)
  await done(dataDir, 'organization add acme')
  await done(dataDir, 'project add acme demo')
  expect(existsSync(join(dataDir, 'lock'))).toBe(false)

  const first = startPlatform({ PLATFORM_DATA_DIR: dataDir })
  await first.line(/^try: /)
  expect(first.lines.join('\n')).toContain('organization acme, project demo')
  const { management } = JSON.parse(await readFile(join(dataDir, 'platform.json'), 'utf8')) as { management: string }
  const status = async (key: string | undefined): Promise<number> => {
    const headers = { 'service-api-key': key ?? '' }
    return (await fetch(`${management}/api/public/organizations/acme/quotas`, { headers })).status
  }
  const { api_key } = await done(dataDir, 'user add ann')
  expect(await status(api_key)).toBe(403)
  await done(dataDir, 'member add acme ann')
  expect(await status(api_key)).toBe(200)
  const { api_key: second } = await done(dataDir, 'user key ann')
  expect([await status(api_key), await status(second)]).toEqual([401, 200])
  await done(dataDir, 'member remove acme ann')
  expect(await status(second)).toBe(403)
  expect(first.lines.join('\n')).not.toContain(second)

  await first.stop('SIGKILL')
  expect(existsSync(join(dataDir, 'admin.sock'))).toBe(true)
  await done(dataDir, 'member add acme ann')
  const again = startPlatform({ PLATFORM_DATA_DIR: dataDir })
  await again.line(/^try: /)
  expect(await admin(dataDir, 'member', 'list')).toEqual({ code: 0, output: 'acme\tann\n', error: '' })
  expect(await again.stop()).toEqual([0, null])
  expect(existsSync(join(dataDir, 'admin.sock'))).toBe(false)
}, 120_000)

it('commands that cannot be followed end with a code that says so', async () => {
  const dataDir = await emptyFolder()
  expect(await admin(dataDir, 'user', 'remove', 'ann')).toMatchObject({ code: 2, output: '' })
  await writeFile(join(dataDir, 'file'), '')
  expect(await admin(join(dataDir, 'file', 'data'), 'user', 'list')).toMatchObject({
    code: 1,
    error: expect.stringMatching(/^the command could not be followed: .*ENOTDIR/),
  })
  expect((await admin(dataDir, '--help')).output).toContain('organization add NAME')
})

it.skipIf(missing !== '')(
  `commands are followed on a server, whichever machine they are given on ${missing}`,
  async () => {
    const environment = { DATABASE_URL: await server().database(), PLATFORM_DATA_DIR: await dataFolder() }
    expect(await runAdmin(environment, ['organization', 'add', 'acme'])).toMatchObject({ code: 0 })
    expect(await runAdmin(environment, ['project', 'add', 'acme', 'demo'])).toMatchObject({ code: 0 })
    const platform = startPlatform(environment)
    await platform.line(/^try: /)
    const elsewhere = { ...environment, PLATFORM_DATA_DIR: await emptyFolder() }
    for (const where of [environment, elsewhere])
      expect(await runAdmin(where, ['organization', 'list'])).toEqual({ code: 0, output: 'acme\n', error: '' })
  },
  120_000,
)
