import type { Stats } from '../../contracts/prompt.ts'
import type { DeliveryState } from '../delivery/parcel.ts'
import type { ExecutedPrompt, JobAnswer } from './job.ts'
import type { Prepared } from './run-prompt.ts'

/** Puts a job's files where its request wants them, if anywhere but in the answer. */
export async function uploadFiles(job: Prepared, { head, files }: ExecutedPrompt): Promise<JobAnswer> {
  const { upload, stopwatch, stop } = job
  job.admitted.stage = 'delivering'
  if (!upload) return { head, files, urls: undefined }
  let state: DeliveryState = { kind: upload.type, status: 'pending', attempts: 0, done: 0 }
  const tell = (change: Partial<DeliveryState>): void => {
    state = { ...state, ...change }
    job.delivery = [state, ...job.delivery.filter(({ kind }) => kind !== upload.type)]
  }
  const onAttempt = (outcome: 'ok' | 'failed', lastError?: string): void =>
    tell({
      attempts: state.attempts + 1,
      done: state.done + (outcome === 'ok' ? 1 : 0),
      ...(lastError !== undefined && { lastError }),
    })
  tell({})
  try {
    const urls = await stopwatch.uploading(upload.run(files, stop.signal, onAttempt))
    tell({ status: 'delivered' })
    const stats = { ...(head.stats as Stats), ...stopwatch.delivered() } // its type knows no member of a loose object
    return { head: { ...head, stats }, files, urls }
  } catch (error) {
    if (!stop.signal.aborted) tell({ status: 'failed' })
    throw error
  }
}
