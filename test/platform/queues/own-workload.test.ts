import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { silentLog } from '../../../src/common/log.ts'
import { readConfig } from '../../../src/platform/config.ts'
import { createOwnWorkload } from '../../../src/platform/wiring/own-workload.ts'
import { emptyFolder } from '../../support/folder.ts'

/** Tells who it is; ends when it is asked to at `/end`; notes each start beside itself, and does not start beside a file `broken`. */
const program = `
import { appendFileSync, existsSync } from 'node:fs'
import { createServer } from 'node:http'
const beside = (name) => new URL(name, import.meta.url)
appendFileSync(beside('starts'), process.pid + '\\n')
if (existsSync(beside('broken'))) process.exit(3)
createServer((request, response) => {
  if (request.url === '/end') process.exit(1)
  const { HOST, COMFY_HOME, OUTBOUND_ALLOW, MODEL_DIR, SECRET } = process.env
  response.end(JSON.stringify({ pid: process.pid, HOST, COMFY_HOME, OUTBOUND_ALLOW, MODEL_DIR, SECRET }))
}).listen(Number(process.env.PORT), process.env.HOST)
`

async function bench(idleMs?: number) {
  const folder = await emptyFolder()
  const file = join(folder, 'program.mjs')
  await writeFile(file, program)
  const make = () => {
    const workload = createOwnWorkload({
      folder: join(folder, 'workload'),
      command: [process.execPath, file],
      environment: { MODEL_DIR: '/models' },
      allowedHosts: ['127.0.0.1', '10.0.0.0/8'],
      log: silentLog,
      ...(idleMs !== undefined && { idleMs }),
    })
    onTestFinished(workload.close)
    return workload
  }
  const starts = async () => (await readFile(join(folder, 'starts'), 'utf8')).trim().split('\n').map(Number)
  return { folder, make, starts, hasStarted: () => existsSync(join(folder, 'starts')) }
}

const ask = async (origin: URL, path = '/') => (await (await fetch(new URL(path, origin))).json()) as { pid: number }

it('is told which models there are and which device to work on, and no secrets of the platform', () => {
  const { endpointWorkload } = readConfig({
    ...{ PATH: '/bin', HOME: '/home/ann', MODEL_DIR: '/models', EXECUTION_PROVIDER: 'cpu', DEVICES: '1' },
    ...{ REDIS_URL: 'redis://secret@localhost', AWS_SECRET_ACCESS_KEY: 'secret', OUTBOUND_ALLOW: 'files.local' },
  })
  expect(endpointWorkload).toEqual({
    environment: {
      ...{ PATH: '/bin', HOME: '/home/ann', MODEL_DIR: '/models', EXECUTION_PROVIDER: 'cpu', DEVICES: '1' },
      LOG_LEVEL: 'warn',
    },
    outboundAllow: 'files.local',
  })
})

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

it('is started by the first work, once, on this machine alone, and ends with the platform', async () => {
  const { make, starts, hasStarted } = await bench()
  const workload = make()
  await workload.open()
  expect(hasStarted()).toBe(false)
  const answers = await Promise.all([workload.use(ask), workload.use(ask)])
  answers.push(await workload.use(ask))
  expect(await starts()).toHaveLength(1)
  const { pid, ...told } = answers[0]!
  const [HOST, COMFY_HOME, OUTBOUND_ALLOW, MODEL_DIR] = ['127.0.0.1', '.', '127.0.0.1,10.0.0.0/8', '/models']
  expect(told).toEqual({ HOST, COMFY_HOME, OUTBOUND_ALLOW, MODEL_DIR })
  await workload.close()
  expect(isRunning(pid)).toBe(false)
  await expect(workload.use(ask)).rejects.toThrow('the platform is stopping')
})

it('is started again when it has died, whether during work or between', async () => {
  const { make, starts } = await bench()
  const workload = make()
  await expect(workload.use((origin) => ask(origin, '/end'))).rejects.toThrow()
  const { pid } = await workload.use(ask)
  process.kill(pid, 'SIGKILL')
  expect(await workload.use(ask)).not.toEqual({ pid })
  expect(await starts()).toHaveLength(3)
})

it('ends when it has had no work for a while, and comes back with work', async () => {
  const { make, starts } = await bench(100)
  const workload = make()
  let finish = (): void => undefined
  const long = workload.use(async (origin) => {
    await new Promise<void>((resolve) => {
      finish = resolve
    })
    return ask(origin)
  })
  const { pid } = await workload.use(ask)
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(isRunning(pid)).toBe(true) // somebody still works with it
  finish()
  expect(await long).toMatchObject({ pid })
  await expect.poll(() => isRunning(pid)).toBe(false)
  await workload.use(ask)
  expect(await starts()).toHaveLength(2)
})

it('says that it ended before it was ready, and is tried again with the next work', async () => {
  const { folder, make } = await bench()
  const workload = make()
  await writeFile(join(folder, 'broken'), '')
  await expect(workload.use(ask)).rejects.toThrow('the workload ended with code 3 before it was ready')
  await expect(workload.use(ask)).rejects.toThrow('code 3')
})

it('that an earlier process of the platform left is ended', async () => {
  const { make, starts } = await bench()
  const { pid } = await make().use(ask)
  await make().open()
  await expect.poll(() => isRunning(pid)).toBe(false)
  expect(await starts()).toHaveLength(1)
})
