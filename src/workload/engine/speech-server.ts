import type { Transcription } from '../../contracts/transcription.ts'
import { messageOf, WorkloadError } from '../base/errors.ts'
import { aliveReporter, tellHost } from './channel.ts'
import type { Failure } from './protocol.ts'
import type { SpeechJob, ToSpeech } from './speech-protocol.ts'

/** How often a process that is not blocked says so. */
const ALIVE_MS = 1000

/** Does what the main process sends, one job at a time, with `transcribe`. Ends when the main process is gone. */
export function serveSpeech(transcribe: (job: SpeechJob, signal: AbortSignal) => Promise<Transcription>): void {
  let cancel = new AbortController()
  const answer = async (job: SpeechJob): Promise<void> => {
    const { signal } = cancel
    try {
      tellHost({ kind: 'done', transcription: await transcribe(job, signal) })
    } catch (error) {
      tellHost({ kind: 'failed', failure: failureOf(error, signal) })
    }
  }
  process.on('message', (message: ToSpeech) => {
    if (message.kind === 'cancel') return cancel.abort()
    cancel = new AbortController()
    void answer(message.job)
  })
  process.on('disconnect', () => process.exit())
  // A signal to the whole process group is the main process's to answer, as with engines.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined)
  setInterval(aliveReporter(), ALIVE_MS).unref()
}

function failureOf(error: unknown, signal: AbortSignal): Failure {
  if (signal.aborted) return { code: 'cancelled', message: 'the transcription was cancelled', facts: {} }
  if (!(error instanceof WorkloadError)) return { code: 'internal', message: messageOf(error), facts: {} }
  const { code, message, facts } = error
  return { code, message, facts }
}
