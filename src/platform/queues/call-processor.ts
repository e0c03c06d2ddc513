import { stringifyExact } from '../../common/json.ts'
import type { Log } from '../../common/log.ts'
import { messageOf } from '../base/errors.ts'
import { applicationAt, type Call } from './call-application.ts'
import { type EndpointProcessor, isTranscription } from './endpoint-setting.ts'
import { isToBeStored, linkTo } from './output-link.ts'

/** What the platform does for processors of endpoints. */
export interface ProcessorPorts {
  /** Has a reference workload running while `work` lasts, and tells where. Without it, jobs that need one stay pending. */
  readonly useWorkload?: (<T>(work: (origin: URL) => Promise<T>) => Promise<T>) | undefined
  /**
   * Keeps the output of a running job, JSON, as a file of its organization; resolves with a signed URL. Rejects for a job
   * that does not run any more. Without it, outputs stay inline.
   */
  readonly storeOutput?: ((jobId: string, output: string) => Promise<string>) | undefined
}

export interface ProcessorCallOptions extends ProcessorPorts {
  readonly endpoint: string
  readonly url: EndpointProcessor['url']
  readonly log: Log
}

/**
 * Calls the processor of an endpoint. Two things are different from the application of a queue: outputs of transcriptions
 * may become links to files (platform reference, section 14.6); and a problem object's sentence becomes the output of a
 * job that fails for good, for nothing else in a job could tell its owner what is missing.
 */
export function processorCall({ endpoint, url, log, useWorkload, storeOutput }: ProcessorCallOptions): Call {
  const ask: Call =
    useWorkload && url.startsWith('/')
      ? (attempt, signal) => useWorkload((origin) => applicationAt(new URL(url, origin))(attempt, signal))
      : applicationAt(new URL(url))

  return async (attempt, signal) => {
    try {
      const answer = await ask(attempt, signal)
      if ('failure' in answer) {
        const { failure, detail } = answer
        if (detail === undefined) return answer
        log.warn({ endpoint, id: attempt.id, reason: failure, detail }, 'a processor refuses to work')
        return { ...answer, output: stringifyExact({ error: detail, duration: 0 }) }
      }
      const { output } = answer
      if (!storeOutput || output === undefined || !isTranscription(endpoint)) return answer
      if (!isToBeStored(attempt.input, output)) return answer
      return { output: linkTo(await storeOutput(attempt.id, output), output) }
    } catch (error) {
      return { failure: messageOf(error) }
    }
  }
}
