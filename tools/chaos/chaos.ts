import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { startRedis } from '../../test/support/redis.ts'
import { type Asked, accept, promptOf } from './client.ts'
import { S3_IDENTITY, startFaultyS3 } from './faulty-s3.ts'
import { createRandom } from './random.ts'
// biome-ignore lint/correctness/useImportExtensions: it takes the file with the types for the program
import { type Behaviour, startReceiver } from './receiver.mjs'
import { type ChaosCounts, judge } from './verdict.ts'
import { createWorkload, type Workload } from './workload.ts'

export interface ChaosOptions {
  readonly prompts: number
  readonly workloads: number
  /** How often Redis is killed and started again. */
  readonly redisRestarts: number
  /** How often one of the workloads is killed. */
  readonly kills: number
  /** From one prompt to the next, on average, so that there is always something to lose. */
  readonly paceMs: number
  /** Of all dice. */
  readonly seed: number
  /** When it is given up. */
  readonly limitMs: number
  /** Is told how it goes. */
  say(line: string): void
}

const BUCKET = 'chaos'
const SECRET = 'whsec_Y2hhb3MgY2hhb3MgY2hhb3M='
/** How long a store that is down stays down. */
const DOWN_MS = 1500

/**
 * Sends asynchronous prompts to workloads that share one Redis, all on 127.0.0.1, while workloads and Redis are killed,
 * receivers of webhooks answer 500, hang and drop connections, and the store refuses; then looks at what arrived.
 */
export async function runChaos(options: ChaosOptions): Promise<ChaosCounts> {
  const { say } = options
  const random = createRandom(options.seed)
  const dice = createRandom(options.seed + 1) // of whoever submits, beside the others
  const folder = await mkdtemp(join(tmpdir(), 'easel-chaos-'))
  const began = Date.now()
  const deadline = began + options.limitMs
  let disturbed = true
  let downUntil = 0

  const behave = (): Behaviour => {
    const dice = disturbed ? random() : 1
    if (dice < 0.15) return 500
    return dice < 0.2 ? 'hang' : dice < 0.25 ? 'drop' : 200
  }
  const redis = await startRedis({ folder, appendonly: true })
  const receiver = await startReceiver({ secret: SECRET, behave })
  const store = await startFaultyS3(BUCKET, () => Date.now() < downUntil)
  const environment = {
    REDIS_URL: redis.url,
    OUTBOUND_ALLOW: '127.0.0.1',
    WEBHOOK_SECRET: SECRET,
    WEBHOOK_SCHEDULE_S: '0,0.2,0.5,1',
    WEBHOOK_TIMEOUT_S: '1',
    PROMPT_WEBHOOK_RETRIES: '20',
    UPLOAD_ATTEMPTS: '3',
    TAKEOVER_AFTER_S: '3',
    JOB_RETENTION_S: '600',
    AWS_REGION: 'us-east-1',
    AWS_ENDPOINT_URL: store.endpoint,
    AWS_ACCESS_KEY_ID: S3_IDENTITY.accessKeyId,
    AWS_SECRET_ACCESS_KEY: S3_IDENTITY.secretAccessKey,
    LOG_LEVEL: 'warn',
    RESULT_CACHE_MB: '16',
  }
  const workloads = Array.from({ length: options.workloads }, (_, i) =>
    createWorkload(join(folder, `workload-${i}`), environment),
  )
  const one = (): Workload => workloads[Math.floor(random() * workloads.length)]!
  const until = async (isSo: () => boolean | Promise<boolean>, what: string): Promise<void> => {
    while (!(await isSo())) {
      if (Date.now() > deadline) throw new Error(`gave up waiting until ${what}\n${workloads.map(tail).join('\n')}`)
      await pause(100)
    }
  }

  try {
    await Promise.all(workloads.map((workload) => workload.start()))
    say(`${workloads.length} workloads are ready`)
    const asked: Asked[] = []
    const submitting = (async () => {
      for (let i = 0; i < options.prompts; i++) {
        const prompt = promptOf(i, { receiver: receiver.url, bucket: BUCKET })
        await accept(prompt, () => one().url, deadline)
        asked.push(prompt)
        await pause(dice() * 2 * options.paceMs)
      }
    })()
    const troubles = [
      ...Array<'kill'>(options.kills).fill('kill'),
      ...Array<'redis'>(options.redisRestarts).fill('redis'),
    ]
    for (const trouble of random.shuffled(troubles)) {
      await pause(1500 + random() * 1500)
      if (trouble === 'redis') {
        await redis.stop('SIGKILL')
        await pause(300 + random() * 1500)
        await redis.restart()
      } else {
        const victim = one()
        await victim.kill()
        await pause(random() * 1500)
        await victim.start()
      }
      if (random() < 0.5) downUntil = Date.now() + DOWN_MS
      say(`${Date.now() - began} ms: ${trouble}; ${asked.length} accepted, ${receiver.accepted().size} told`)
    }
    await submitting
    disturbed = false
    const counts = () => judge(asked, receiver.calls, store.client)
    await until(async () => (await counts()).untold === 0, 'every receiver was told')
    const left = async () => (await Promise.all(workloads.map((each) => each.spooled()))).flat().length
    await until(async () => (await left()) === (await counts()).keptBack, 'the spools were empty')
    const codes = await Promise.all(workloads.map((workload) => workload.stop()))
    return {
      ...(await counts()),
      kills: workloads.reduce((sum, { kills }) => sum + kills, 0),
      redisRestarts: options.redisRestarts,
      storeRefusals: store.refused,
      leftInSpool: await left(),
      exitCodes: codes,
      seconds: (Date.now() - began) / 1000,
    }
  } finally {
    await Promise.all(workloads.map((workload) => workload.kill()))
    await Promise.all([receiver.close(), store.close(), redis.stop('SIGKILL')])
    await rm(folder, { recursive: true, force: true })
  }
}

const tail = ({ lines }: Workload): string => lines.slice(-10).join('\n')
