import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import {
  type ChaosJob,
  createPlatformClient,
  type PlatformClient,
  smallPictures,
  workloadGroup,
} from './platform-client.ts'
import { createPlatformProcess, killed } from './platform-process.ts'
import { createTraffic, type Traffic } from './platform-traffic.ts'
import { type JobVerdict, judgeJobs } from './platform-verdict.ts'
import { createRandom } from './random.ts'
// biome-ignore lint/correctness/useImportExtensions: it takes the file with the types for the program
import { startReceiver } from './receiver.mjs'

export interface PlatformChaosOptions {
  readonly jobs: number
  /** How often an instance is killed at most: its application, or all of its processes. */
  readonly mostKills: number
  /** From one kill to the next, on average; longer where no job ends meanwhile. */
  readonly killPaceMs: number
  /** How many jobs wait or run at most, so that there is always something to lose, until the last one is given. */
  readonly backlog: number
  /** Of the pictures, in pixels, and how many steps each takes. */
  readonly side: number
  readonly steps: number
  /** Of all dice. */
  readonly seed: number
  /** When it is given up. */
  readonly limitMs: number
  /** Beyond what every run has, e.g. `DATABASE_URL`. */
  readonly environment?: Readonly<Record<string, string>>
  /** Is told how it goes. */
  say(line: string): void
}

/** What it all came to. */
export interface PlatformCounts extends JobVerdict {
  readonly kills: number
  /** Answers of the gateway by status; 0 is a connection that broke after the head. */
  readonly gateway: Readonly<Record<string, number>>
  /** Answers that the gateway must not give. */
  readonly strange: readonly string[]
  /** At the end: instances that run, containers on the machine, and processes after the platform was stopped. */
  readonly running: number
  readonly containers: number
  readonly left: number
  /** The most containers that were there at once. */
  readonly mostContainers: number
  readonly exitCode: number | null
  readonly seconds: number
}

const QUEUE = 'pictures'
const GROUP = 'draw'
const REPLICAS = 3
/** Events of a job that has lost two attempts or more. */
const WORTH_TELLING = 4
/** What takes longer once everything is left in peace does not happen any more. */
const PATIENCE_MS = 90_000

/**
 * Gives jobs to a queue of the built platform, whose three instances of the reference workload are killed at random and
 * go down to one and up again, while clients ask through the gateway and the receiver of webhooks fails now and then;
 * then looks at what became of every job.
 */
export async function runPlatformChaos(options: PlatformChaosOptions): Promise<PlatformCounts> {
  const { say, jobs } = options
  const random = createRandom(options.seed)
  const folder = await mkdtemp(join(tmpdir(), 'easel-chaos-'))
  const began = Date.now()
  const deadline = began + options.limitMs
  const platform = createPlatformProcess(folder, {
    ...{
      LOG_LEVEL: 'warn',
      REQUESTS_PER_MINUTE: '0',
      WEBHOOK_WAITS_S: '0,0.5,0.5,1,1,2,2,2,2',
      WEBHOOK_TIMEOUT_S: '2',
    },
    ...{ JOB_LEASE_S: '10', JOB_LEASE_RENEWAL_S: '2' },
    ...options.environment,
  })
  const client = createPlatformClient(() => platform.book)
  let disturbed = true
  const dice = createRandom(options.seed + 1) // of the receiver, beside the others
  const receiver = await startReceiver({
    behave: () => {
      const thrown = disturbed ? dice() : 1
      return thrown < 0.15 ? 500 : thrown < 0.2 ? 'drop' : 200
    },
  })
  const until = async (isSo: () => Promise<boolean>, what: string): Promise<void> => {
    const patience = Math.min(deadline, Date.now() + PATIENCE_MS)
    while (!(await isSo())) {
      if (Date.now() > patience)
        throw new Error(`gave up waiting until ${what}\n${platform.lines.slice(-30).join('\n')}`)
      await pause(100)
    }
  }
  const succeed = async (line: string, body?: unknown): Promise<unknown> => {
    const { status, body: answer } = await client.send(line, body)
    if (status >= 300) throw new Error(`${line} answered ${status}: ${JSON.stringify(answer)}`)
    return answer
  }
  const settled = async (): Promise<boolean> => {
    const instances = await client.instances(GROUP)
    const { pending_change } = await client.group(GROUP)
    return !pending_change && instances.length === REPLICAS && instances.every(({ ready }) => ready)
  }

  let traffic: Traffic | undefined
  let isOver = false
  const asked: string[] = []
  /** Whether a job that has not ended has lost two attempts: it has four, and is left in peace. */
  const isAtStake = async (): Promise<boolean> => {
    const told = new Set(receiver.calls.map(({ body }) => (body?.data as { id?: string } | undefined)?.id))
    const open = asked.filter((id) => !told.has(id))
    const found = await Promise.all(open.map((id) => client.get<ChaosJob>(`/queues/${QUEUE}/jobs/${id}`)))
    return found.some(({ status, events }) => {
      const started = events.filter(({ action }) => action === 'started').length
      return (status === 'running' && started > 2) || (status === 'pending' && started > 1)
    })
  }
  try {
    await platform.start()
    await succeed('POST /queues', { name: QUEUE })
    await succeed('POST /containers', workloadGroup(GROUP, QUEUE, REPLICAS))
    await until(settled, 'the instances were ready')
    say(`${Date.now() - began} ms: ${REPLICAS} instances are ready`)
    const picture = await smallPictures(options.side, options.steps)
    const { networking } = await client.group(GROUP)
    traffic = createTraffic(platform.book, networking?.dns ?? '', picture)
    const secret = await client.secret()

    let isSubmitted = false
    const submitting = (async () => {
      for (let i = 0; i < jobs; i++) {
        const { id } = (await succeed(`POST /queues/${QUEUE}/jobs`, { input: picture(i), webhook: receiver.url })) as {
          readonly id: string
        }
        asked.push(id)
        if (i === Math.floor(jobs / 3)) await succeed(`PATCH /containers/${GROUP}`, { replicas: 1 })
        if (i === Math.floor((jobs * 2) / 3)) await succeed(`PATCH /containers/${GROUP}`, { replicas: REPLICAS })
        await until(async () => (await waitingIn(client)) < options.backlog, 'there was room for another job')
      }
      isSubmitted = true
    })()
    let kills = 0
    let mostContainers = 0
    const killing = (async () => {
      let endedBefore = 0
      while (!isOver && kills < options.mostKills) {
        await pause(options.killPaceMs * (0.5 + random()))
        const waiting = await waitingIn(client)
        if (isSubmitted && waiting === 0) return
        const ended = asked.length - waiting
        if (ended <= endedBefore || (await isAtStake())) continue
        const leaders = (await platform.descendants()).filter(({ leads }) => leads)
        mostContainers = Math.max(mostContainers, leaders.length)
        const victim = leaders[Math.floor(random() * leaders.length)]
        if (!victim) continue
        const isGroup = random() < 0.4
        if (!killed(isGroup ? -victim.pid : victim.pid)) continue
        kills++
        endedBefore = ended
        say(
          `${Date.now() - began} ms: killed ${isGroup ? 'all of ' : ''}${victim.instanceId}; ${ended} jobs have ended`,
        )
      }
    })()
    await Promise.all([submitting, killing])
    disturbed = false
    const judge = () => judgeJobs(asked, () => client.jobs(QUEUE), receiver.calls, secret)
    await until(async () => (await judge()).unsettled === 0, 'every job had ended')
    await until(async () => (await judge()).untold === 0, 'every receiver was told')
    await until(settled, 'the instances were all there again')
    const { answers, strange } = await traffic.stop()
    const instances = await client.instances(GROUP)
    const containers = (await platform.descendants()).filter(({ leads }) => leads).length
    const verdict = await judge()
    for (const { id, events } of await client.jobs(QUEUE))
      if (events.length > WORTH_TELLING)
        say(`${id}: ${events.map(({ action, time }) => `${action} ${time}`).join(', ')}`)
    const exitCode = await platform.stop()
    const left = (await platform.descendants()).length
    return {
      ...verdict,
      ...{ kills, gateway: answers, strange, running: instances.length, containers, left, mostContainers, exitCode },
      seconds: (Date.now() - began) / 1000,
    }
  } finally {
    isOver = true
    await traffic?.stop()
    await platform.sweep()
    await receiver.close()
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Jobs of the queue that wait or run. */
const waitingIn = async (client: PlatformClient): Promise<number> =>
  (await client.get<{ current_queue_length: number }>(`/queues/${QUEUE}`)).current_queue_length
