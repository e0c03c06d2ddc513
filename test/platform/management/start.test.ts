import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { groupBody } from '../../support/container-groups.ts'
import { platformFolderIn } from '../../support/platform-database.ts'
import { startPlatform } from '../../support/platform-program.ts'

/** A data folder, with records that are still empty: making them takes seconds. */
async function dataFolder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'easel-'))
  onTestFinished(() => rm(made, { recursive: true, force: true }))
  await platformFolderIn(made)
  return made
}

const hello = (dataDir: string) => {
  const book = join(dataDir, 'platform.json')
  return { exists: () => existsSync(book), read: async () => JSON.parse(await readFile(book, 'utf8')) as Introduced }
}

interface Introduced {
  readonly management: string
  readonly imds: string
  readonly organization: string
  readonly project: string
  readonly api_key: string
}

const address = /^http:\/\/127\.0\.0\.1:\d+$/

it('starts with nothing, prints a command that works, and knows its key again', async () => {
  const dataDir = await dataFolder()
  const book = hello(dataDir)
  const first = startPlatform({ PLATFORM_DATA_DIR: dataDir })
  const command = (await first.line(/^try: /)).replace('try: ', '')
  const shown = (await first.line(/^API key, shown this once: /)).split(': ')[1]
  const { status, stdout } = spawnSync('sh', ['-c', command.replace('curl', 'curl -s')], { encoding: 'utf8' })
  expect(status).toBe(0)
  expect(JSON.parse(stdout).items).toHaveLength(4)
  const introduced = await book.read()
  expect(introduced).toEqual({
    management: expect.stringMatching(address),
    storage: expect.stringMatching(address),
    imds: expect.stringMatching(address),
    gateway: expect.stringMatching(/^http:\/\/localhost:\d+$/),
    jwks: `${introduced.management}/.well-known/workload-jwks.json`,
    organization: 'demo',
    project: 'demo',
    api_key: shown,
  })
  expect(first.lines).toContainEqual(expect.stringContaining(`metadata service: ${introduced.imds}`))
  const asked = await fetch(`${introduced.imds}/v1/status`, { headers: { metadata: 'true' } })
  expect(await asked.json()).toMatchObject({ status: 404, code: 'container-not-found' })
  expect(await first.stop()).toEqual([0, null])
  expect(book.exists()).toBe(false)

  const second = startPlatform({ PLATFORM_DATA_DIR: dataDir, PLATFORM_BASE_URL: 'https://api.example.com/' })
  await second.line(/^try: /)
  expect(second.lines.join()).not.toContain(shown)
  expect(await book.read()).toMatchObject({
    organization: 'demo',
    api_key: introduced.api_key,
    management: 'https://api.example.com',
  })
})

it('lets in who the seed names, and has the container groups of a file', async () => {
  const dataDir = await dataFolder()
  const file = join(dataDir, 'seed.json')
  const seed = {
    organizations: [{ name: 'acme', projects: ['pictures'], members: ['ann'] }],
    users: [{ name: 'ann', api_key: 'the key of ann, long' }],
  }
  await writeFile(file, JSON.stringify(seed))
  const group = groupBody('first', { autostart_policy: false, replicas: 3 })
  await writeFile(join(dataDir, 'container-group.json'), JSON.stringify(group))
  const environment = { PLATFORM_SEED: file, REPLICA_QUOTA: '25', CONTAINER_GROUPS_FILE: '' }
  const platform = startPlatform({ PLATFORM_DATA_DIR: dataDir, ...environment })
  await platform.line(/^try: /)
  const { management, api_key, ...named } = await hello(dataDir).read()
  expect(named).toMatchObject({ organization: 'acme', project: 'pictures' })
  const headers = { 'service-api-key': api_key }
  const quotas = await fetch(`${management}/api/public/organizations/acme/quotas`, { headers })
  expect(await quotas.json()).toMatchObject({
    container_groups_quotas: { container_replicas_quota: 25, container_replicas_used: 3 },
  })
})

it.each([
  [
    'every bad variable',
    { MANAGEMENT_PORT: 'many', PLATFORM_BASE_URL: 'ftp://x', LOG_LEVEL: 'loud' },
    /MANAGEMENT_PORT.*PLATFORM_BASE_URL.*LOG_LEVEL/,
  ],
  ['a seed that is not there', { PLATFORM_SEED: '/nowhere/seed.json' }, /\/nowhere\/seed\.json/],
  [
    'an engine that is not there',
    { LAUNCHER: 'docker', DOCKER_HOST: 'unix:///nowhere/docker.sock' },
    /\/nowhere\/docker/,
  ],
  ['groups that are not there', { CONTAINER_GROUPS_FILE: '/nowhere/groups.json' }, /\/nowhere\/groups\.json/],
  ['endpoints that are not there', { ENDPOINTS_FILE: '/nowhere/endpoints.json' }, /\/nowhere\/endpoints\.json/],
])('fails with %s named', async (_what, environment, named) => {
  const platform = startPlatform({ PLATFORM_DATA_DIR: '/nowhere', ...environment })
  const error = await platform.line(/^try: /).then(
    (line) => new Error(line),
    (reason: Error) => reason,
  )
  expect(error.message.replaceAll('\n', ' ')).toMatch(named)
  expect(error.message).not.toContain('    at ')
})
