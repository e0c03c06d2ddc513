import type { Log } from '../../common/log.ts'
import type { Transcription } from '../../contracts/transcription.ts'
import { unlessAborted } from '../base/abort.ts'
import { WorkloadError } from '../base/errors.ts'
import { type EngineProcess, spawnEngine } from './process.ts'
import type { FromSpeech, SpeechJob, ToSpeech } from './speech-protocol.ts'

/** How long a process that was told to stop a job may take before it is killed. */
const CANCEL_MS = 5000

export interface SpeechProcessOptions {
  readonly entry: URL
  /** What the process is told, as JSON. */
  readonly config: unknown
  /** A process that has work and is silent for longer is killed. */
  readonly stallMs: number
  /** One that has had no work for so long is ended: its model takes memory. */
  readonly idleMs: number
  readonly log: Log
}

/** The process that writes down what is said, as the main process sees it. */
export interface SpeechProcess {
  /** Undefined while there is none. */
  readonly processId: number | undefined
  /**
   * Does one job after another, in the order of the calls. Rejects with the reason of `signal`, and with
   * `execution-failed` when the process ends.
   */
  transcribe(job: SpeechJob, signal: AbortSignal): Promise<Transcription>
  close(): Promise<void>
}

interface Pending {
  resolve(transcription: Transcription): void
  reject(error: Error): void
}

/** Starts the process when there is something to do, and again after it has ended, whatever ended it. */
export function createSpeechProcess({ entry, config, stallMs, idleMs, log }: SpeechProcessOptions): SpeechProcess {
  let child: EngineProcess<ToSpeech> | undefined
  let pending: Pending | undefined
  let last: Promise<unknown> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  let killedFor: string | undefined
  let closed = false

  const kill = (because: string): void => {
    killedFor = because
    child?.kill()
  }
  /** Counts silence while there is work, and idleness while there is none. */
  const watch = (): void => {
    clearTimeout(timer)
    timer = pending
      ? setTimeout(() => kill(`it gave no sign of life for ${stallMs / 1000} s`), stallMs)
      : setTimeout(() => void end(), idleMs).unref()
  }
  const settled = (): Pending | undefined => {
    const settling = pending
    pending = undefined
    return settling
  }
  const receive = (message: FromSpeech): void => {
    if (message.kind === 'done') settled()?.resolve(message.transcription)
    else if (message.kind === 'failed') {
      const { code, message: text, facts } = message.failure
      // What nobody foresaw may name files of this machine: that is for the log.
      settled()?.reject(code === 'internal' ? new Error(text) : new WorkloadError(code, text, facts))
    }
    watch()
  }
  const ended = (seen: string): void => {
    const how = killedFor === undefined ? seen : `was killed, because ${killedFor}`
    clearTimeout(timer)
    killedFor = undefined
    child = undefined
    const lost = settled()
    if (!lost) return
    log.error({}, `the speech process ${how}`)
    lost.reject(new WorkloadError('execution-failed', `the speech process ${how} while it transcribed`))
  }
  const end = async (): Promise<void> => {
    clearTimeout(timer)
    const ending = child
    child = undefined
    await ending?.close()
  }
  const start = (): EngineProcess<ToSpeech> => {
    const started: EngineProcess<ToSpeech> = spawnEngine<ToSpeech, FromSpeech>(entry, config, {
      message: (message) => child === started && receive(message),
      ended: (how) => child === started && ended(how),
    })
    return started
  }
  const work = async (job: SpeechJob, signal: AbortSignal): Promise<Transcription> => {
    signal.throwIfAborted()
    if (closed) throw shuttingDown()
    child ??= start()
    const on = child
    let late: NodeJS.Timeout | undefined
    const cancel = () => {
      on.send({ kind: 'cancel' })
      late = setTimeout(() => kill('it did not stop when it was told to'), CANCEL_MS)
    }
    signal.addEventListener('abort', cancel)
    try {
      return await new Promise<Transcription>((resolve, reject) => {
        pending = { resolve, reject }
        on.send({ kind: 'transcribe', job })
        watch()
      })
    } finally {
      signal.removeEventListener('abort', cancel)
      clearTimeout(late)
    }
  }
  return {
    get processId() {
      return child?.id
    },
    transcribe(job, signal) {
      const turn = last.then(() => work(job, signal))
      last = turn.catch(() => undefined)
      return unlessAborted(turn, signal)
    },
    async close() {
      closed = true
      settled()?.reject(shuttingDown())
      await end()
    },
  }
}

const shuttingDown = () => new WorkloadError('shutting-down', 'the server stopped before the transcription was done')
