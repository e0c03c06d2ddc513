import { isOutOfMemory, messageOf, WorkloadError } from '../base/errors.ts'
import type { ResultCache } from '../graph/cache.ts'
import { execute } from '../graph/execute.ts'
import type { NodeRegistry, RunContext } from '../graph/node.ts'
import { aliveReporter, tellHost } from './channel.ts'
import { createEventLine, type EventLine } from './event-line.ts'
import { createOutputKeeper, type OutputSpool } from './keep-outputs.ts'
import type { EngineJob, EngineResult, Failure, Freeing, ToEngine } from './protocol.ts'
import { createSketching, type Sketching } from './sketching.ts'

/** How often a process that is not blocked says so. */
const ALIVE_MS = 1000

export interface EngineServices<Context extends RunContext> {
  /** What the sessions run on: `cpu`, `cuda`. */
  readonly device: string
  /** Milliseconds that ONNX Runtime has held the thread since the process began. */
  blockedTime(): number
  readonly registry: NodeRegistry<Context>
  readonly cache: ResultCache
  /** Frees what memory it can beside the cache. */
  freeMemory(): Promise<void>
  /** What the nodes of `job` may touch. */
  contextFor(run: RunContext, job: EngineJob): Context
  /** Where the outputs of `job` are encoded and kept. */
  spoolFor(job: EngineJob): OutputSpool
}

/** Runs the prompts that the main process sends, as many at once as it sends. Ends when the main process is gone. */
export function serveEngine<Context extends RunContext>(services: EngineServices<Context>): void {
  const running = new Map<string, { readonly cancel: AbortController; readonly sketching: Sketching }>()

  const answer = async (run: string, job: EngineJob, watched: boolean): Promise<void> => {
    const cancel = new AbortController()
    const sketching = createSketching(
      watched,
      (sketch) => tellHost({ kind: 'sketch', run, sketch }),
      () => performance.now(),
    )
    running.set(run, { cancel, sketching })
    try {
      const line = createEventLine(run)
      const onEvent: EventLine = (event) => {
        line(event)
        if (event.kind !== 'output') sketching.note(event)
      }
      tellHost({ kind: 'done', run, result: await runJob(job, onEvent, cancel.signal, services) })
    } catch (error) {
      tellHost({ kind: 'failed', run, failure: failureOf(error, cancel.signal) })
    } finally {
      running.delete(run)
    }
  }

  const free = async ({ models, results }: Freeing): Promise<void> => {
    if (results) services.cache.clear()
    if (models) await services.freeMemory()
  }

  process.on('message', (message: ToEngine) => {
    if (message.kind === 'run') void answer(message.run, message.job, message.watched)
    else if (message.kind === 'free') void free(message)
    else {
      const job = running.get(message.run)
      if (message.kind === 'cancel') job?.cancel.abort()
      else if (job) job.sketching.wanted = message.watched
    }
  })
  process.on('disconnect', () => process.exit())
  // A signal to the whole process group is the main process's to answer: it lets prompts finish, then disconnects.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined)
  setInterval(aliveReporter(), ALIVE_MS).unref()
  tellHost({ kind: 'ready', device: services.device })
}

async function runJob<Context extends RunContext>(
  job: EngineJob,
  onEvent: EventLine,
  signal: AbortSignal,
  { registry, cache, contextFor, spoolFor, blockedTime, freeMemory }: EngineServices<Context>,
): Promise<EngineResult> {
  const start = Date.now()
  const blocked = blockedTime()
  const keeper = createOutputKeeper(job, spoolFor(job), signal, onEvent)
  await execute({
    prompt: job.prompt,
    outputs: job.outputs,
    registry,
    cache,
    contextFor: (of) => contextFor(of, job),
    signal,
    pngInfo: job.pngInfo,
    onEvent,
    onOutput: keeper.keep,
    async freeMemory() {
      cache.clear()
      await freeMemory()
    },
  })
  const { files, time: encodeTime } = keeper.kept()
  // Encoding happens between nodes and is told apart from them.
  return { files, start, end: Date.now() - encodeTime, encodeTime, inferenceTime: blockedTime() - blocked }
}

function failureOf(error: unknown, signal: AbortSignal): Failure {
  if (signal.aborted) return { code: 'cancelled', message: 'the prompt was cancelled', facts: {} }
  if (!(error instanceof WorkloadError)) return { code: 'internal', message: messageOf(error), facts: {} }
  const { code, message, facts } = error
  return { code: isOutOfMemory(error) ? 'out-of-memory' : code, message, facts }
}
