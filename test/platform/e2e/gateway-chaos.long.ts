import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { askGateway, createPlatformClient, type GatewayAnswer } from '../../../tools/chaos/platform-client.ts'
import { createPlatformProcess, killed } from '../../../tools/chaos/platform-process.ts'
import { createRandom, seedOfRun } from '../../../tools/chaos/random.ts'
import { emptyFolder } from '../../support/folder.ts'

/** Writes down each request that reaches it, reads its body and answers in two pieces, with a pause before and between. */
const application = `const { appendFileSync } = require('node:fs')
  require('node:http').createServer((request, response) => {
    appendFileSync(process.env.SEEN, request.url + '\\n')
    request.resume().on('end', () => setTimeout(() => {
      response.write('first ')
      setTimeout(() => response.end('last'), 30)
    }, Math.random() * 120))
  }).listen(process.env.PORT, '127.0.0.1')`

const SECONDS = 25
const CLIENTS = 6

it('says 503 when an instance is lost and nothing else, and sends no request twice', async () => {
  const seed = seedOfRun(Date.now())
  process.stdout.write(`SEED=${seed}\n`)
  const random = createRandom(seed)
  const folder = await emptyFolder()
  const seen = join(folder, 'seen')
  const platform = createPlatformProcess(folder, { LOG_LEVEL: 'warn', REQUESTS_PER_MINUTE: '0' })
  onTestFinished(() => platform.sweep())
  await platform.start()
  const client = createPlatformClient(() => platform.book)
  const { status } = await client.send('POST /containers', {
    ...{ name: 'answers', replicas: 3, autostart_policy: true, restart_policy: 'always' },
    networking: { auth: true, port: 3000, protocol: 'http', load_balancer: 'round_robin' },
    container: {
      image: 'application',
      command: [process.execPath, '-e', application],
      environment_variables: { SEEN: seen },
      resources: { cpu: 1, memory: 1024 },
    },
    readiness_probe: {
      tcp: { port: 3000 },
      ...{ initial_delay_seconds: 0, period_seconds: 1, timeout_seconds: 2 },
      ...{ success_threshold: 1, failure_threshold: 1 },
    },
  })
  expect(status).toBe(201)
  const ready = async () => (await client.instances('answers')).filter(({ ready: isReady }) => isReady).length
  await expect.poll(ready, { timeout: 60_000 }).toBe(3)
  const host = (await client.group('answers')).networking?.dns ?? ''

  const answers: GatewayAnswer[] = []
  let isOver = false
  const asking = Array.from({ length: CLIENTS }, async (_, name) => {
    for (let i = 0; !isOver; i++) {
      const body = i % 3 === 0 ? { method: 'POST', body: 'x'.repeat(100_000) } : {}
      const answer = await askGateway(platform.book, host, { path: `/${name}-${i}`, ...body })
      answers.push(answer)
      if (answer.status !== 200) await pause(50)
    }
  })
  let kills = 0
  for (const end = Date.now() + SECONDS * 1000; Date.now() < end; await pause(300 + random() * 900)) {
    const leaders = (await platform.descendants()).filter(({ leads }) => leads)
    const victims = random() < 0.15 ? leaders : leaders.slice(0, 1)
    for (const { pid } of victims) if (killed(pid)) kills++
  }
  isOver = true
  await Promise.all(asking)

  const told = new Map<string, number>()
  for (const { status: code, whole } of answers) {
    const name = `${code}${whole ? '' : ' cut'}`
    told.set(name, (told.get(name) ?? 0) + 1)
  }
  const counts = Object.fromEntries(told)
  process.stdout.write(`${kills} kills, answers ${JSON.stringify(counts)}\n`)
  expect(Object.keys(counts).filter((name) => !['200', '200 cut', '503'].includes(name))).toEqual([])
  const refusals = answers.filter(({ status: code }) => code === 503)
  expect(new Set(refusals.map(({ type }) => type))).toEqual(new Set(['application/problem+json']))
  expect(answers.filter(({ status: code, whole, body }) => code === 200 && whole && body !== 'first last')).toEqual([])
  const paths = (await readFile(seen, 'utf8')).trim().split('\n')
  expect(paths).toHaveLength(new Set(paths).size)
  expect(counts['200']).toBeGreaterThan(100)
  await expect.poll(ready, { timeout: 60_000 }).toBe(3)
  expect(await askGateway(platform.book, host, { path: '/at-last' })).toMatchObject({ status: 200, whole: true })
  expect(await platform.stop()).toBe(0)
  expect(await platform.descendants()).toEqual([])
}, 180_000)
