import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../../common/log.ts'
import { containerInputSchema } from '../../contracts/platform/container.ts'
import { messageOf } from '../base/errors.ts'
import type { RunningContainer } from '../instances/launcher.ts'
import { createProcessLauncher } from '../instances/process-launcher.ts'
import { createOnDemand, type OnDemand, type Started } from '../queues/on-demand.ts'

/** The workload's own; on this machine it is another one. */
const PORT = 3000
/** Without jobs for so long it is ended, for models take memory. */
const IDLE_MS = 600_000
/** Much longer than any machine takes. */
const READY_MS = 120_000
const LOOK_MS = 100
/** Of one question whether it is ready. */
const ANSWER_MS = 2000
/** Its jobs are done or given up by then. */
const GRACE_MS = 5000

/** A reference workload that works for inference endpoints. */
export interface OwnWorkload extends OnDemand {
  /** Ends what an earlier process of the platform left running. */
  open(): Promise<void>
}

export interface OwnWorkloadOptions {
  /** Of its own: where it works, and where notes are kept of what runs. */
  readonly folder: string
  /** Program and arguments. */
  readonly command: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  /** Hosts that URLs of jobs may lead to although they are not public: the platform's own storage is one on this machine. */
  readonly allowedHosts: readonly string[]
  readonly log: Log
  /** `IDLE_MS` if not given. */
  readonly idleMs?: number
}

/** Runs one on this machine, as an instance of a group runs, but only while endpoints have work for it. */
export function createOwnWorkload(options: OwnWorkloadOptions): OwnWorkload {
  const { folder, command, environment, allowedHosts, log, idleMs = IDLE_MS } = options
  const launcher = createProcessLauncher({ folder, images: {}, environment })
  const shape = { image: 'reference-workload', command, resources: { cpu: 1, memory: 1024 } }
  const container = containerInputSchema.parse(shape)
  const told = {
    HOST: '127.0.0.1',
    COMFY_HOME: '.', // the folder it is started in, which is empty then
    OUTBOUND_ALLOW: allowedHosts.join(),
    JOB_STORE: 'memory', // whoever asks waits for the answer
    WARMUP_PROMPT_FILE: 'none', // that would load an image model
  }

  async function start(signal: AbortSignal): Promise<Started> {
    const onLine = (line: string) => log.info({ line }, 'the workload of the endpoints says')
    const order = { machineId: 'endpoints', fresh: true, container, ports: [PORT], environment: told, onLine }
    const running = await launcher.start(order)
    const { ended } = running
    const port = running.portOf(PORT)
    if (port === undefined) throw new Error('a workload that was started has a port')
    const url = new URL(`http://127.0.0.1:${port}`)
    const stop = () => running.stop(GRACE_MS).catch(reportStop)
    void ended.then((code) => log.info({ code }, 'the workload of the endpoints has ended'))
    try {
      await untilReady(url, running, signal)
    } catch (error) {
      await stop()
      throw error
    }
    log.info({ port }, 'a workload was started for the endpoints')
    return { url, ended, stop, isThere: async () => (await stateOf(url)) !== 'gone' }
  }
  const reportStop = (error: unknown) =>
    log.error({ reason: messageOf(error) }, 'the workload of the endpoints could not be ended')

  return { ...createOnDemand({ start, idleMs }), open: () => launcher.sweep() }
}

async function untilReady(url: URL, { ended }: RunningContainer, signal: AbortSignal): Promise<void> {
  let code: number | undefined
  void ended.then((ending) => {
    code = ending
  })
  const patience = AbortSignal.timeout(READY_MS)
  for (;;) {
    if ((await stateOf(url)) === 'ready') return
    if (code !== undefined) throw new Error(`the workload ended with code ${code} before it was ready`)
    if (signal.aborted) throw new Error('the platform is stopping')
    if (patience.aborted) throw new Error('the workload did not become ready')
    await sleep(LOOK_MS)
  }
}

/** One that takes the question and does not answer is busy: it decodes what it was sent, perhaps for seconds. */
async function stateOf(url: URL): Promise<'ready' | 'busy' | 'gone'> {
  const late = AbortSignal.timeout(ANSWER_MS)
  try {
    // On a connection of its own: one that was kept may be closed at any time, and that would look like its end.
    const asked = get(new URL('/ready', url), { agent: false, signal: late })
    const [answer] = (await once(asked, 'response')) as [IncomingMessage]
    answer.resume()
    return answer.statusCode === 200 ? 'ready' : 'busy'
  } catch {
    return late.aborted ? 'busy' : 'gone'
  }
}
