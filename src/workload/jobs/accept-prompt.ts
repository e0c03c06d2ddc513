import { randomUUID } from 'node:crypto'
import { WorkloadError } from '../base/errors.ts'
import type { Outbound } from '../media/outbound.ts'
import type { JobQueue, QueueEntry } from '../queue/job-queue.ts'
import type { Admission } from './admission.ts'
import { readAsked, writeAsked } from './asked-prompt.ts'
import { bodyKeyOf } from './body-key.ts'
import { checkGraph } from './check-graph.ts'
import { createFaults } from './faults.ts'
import { withFileNames } from './file-prefix.ts'
import { readNote } from './life-note.ts'
import { type BodyChecks, type ParsedBody, parseBody, warningsOf } from './prompt-body.ts'
import { echoed, requireResult } from './run-prompt.ts'
import type { Seal } from './seal.ts'
import type { Spool } from './spool.ts'
import { toldPrompt } from './told-prompt.ts'

/** A prompt that will be done, whatever happens to this server. */
export interface Accepted {
  readonly id: string
  /** The body of the 202. */
  readonly echo: Readonly<Record<string, unknown>>
}

export interface AcceptServices {
  readonly checks: BodyChecks
  readonly queue: JobQueue
  readonly outbound: Pick<Outbound, 'check'>
  readonly seal: Seal
  readonly spool: Spool
  readonly prependFilenames: boolean
  now(): number
}

/** Takes in prompts whose clients do not wait. */
export interface Acceptance {
  /** Prompts on their way into the queue. */
  readonly arriving: number
  /**
   * Checks all that can be checked without fetching anything, and resolves when the prompt is stored. The same body under
   * the same id is accepted once; under another body the id is taken: throws `id-conflict`.
   */
  accept(body: unknown, requestId: string, isTaken: (id: string) => boolean): Promise<Accepted>
}

export function createAcceptance(services: AcceptServices, admission: Admission): Acceptance {
  const { checks, queue, outbound, seal, spool, prependFilenames, now } = services
  let arriving = 0

  const checked = async (parsed: ParsedBody) => {
    const folder = spool.name()
    const { prompt, credentials = [] } = parsed.request
    const inputs = { folder, credentials, signal: new AbortController().signal, fetch: false }
    try {
      const valid = await checkGraph(prompt, inputs, createFaults(), checks)
      valid.release()
      requireResult(valid)
      return valid
    } finally {
      await spool.remove(folder) // it is made again where the prompt runs
    }
  }

  return {
    get arriving() {
      return arriving
    },
    async accept(body, requestId, isTaken) {
      const parsed = await parseBody(body, checks, { checkUrl: outbound.check })
      const { request, raw } = parsed
      const valid = await checked(parsed)
      const id = request.id ?? randomUUID()
      const dropped = Object.keys(valid.nodeErrors).length > 0
      const warnings = warningsOf(raw)
      const accepted: Accepted = {
        id,
        echo: {
          ...echoed(request),
          id,
          prompt: withFileNames(toldPrompt(request.prompt, valid.prompt), id, prependFilenames),
          status: 'ok',
          ...(warnings.length > 0 && { warnings }),
          ...(dropped && { node_errors: valid.nodeErrors }),
        },
      }
      const bodyKey = bodyKeyOf(raw)
      const former = request.id === undefined ? undefined : await queue.find(id)
      if (former && !isToBeRepeated(former)) return joined(former, bodyKey, accepted)
      if (isTaken(id)) throw conflict(id)
      admission.check()
      arriving++
      try {
        const asked = await writeAsked(raw, requestId, seal)
        if (former) {
          joined(former, bodyKey, accepted)
          await queue.remove(id)
        }
        const run = (former?.run ?? 0) + 1
        const entry = await queue.submit({ id, run, asked, priority: request.priority ?? 0, created: now() })
        return joined(entry, bodyKey, accepted)
      } finally {
        arriving--
      }
    },
  }
}

/** A prompt that failed is run again when it is asked for again. */
const isToBeRepeated = ({ stage, note }: QueueEntry): boolean =>
  stage === 'ended' && readNote(note).outcome?.failure !== undefined

function joined(entry: QueueEntry, bodyKey: string, accepted: Accepted): Accepted {
  if (readAsked(entry).bodyKey === bodyKey) return accepted
  throw conflict(entry.id)
}

const conflict = (id: string) =>
  new WorkloadError('id-conflict', `the id ${id} belongs to another prompt`, { location: 'id' })
