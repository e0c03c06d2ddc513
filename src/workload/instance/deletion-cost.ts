import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import type { Log } from '../../common/log.ts'
import { messageOf } from '../base/errors.ts'

const TIMEOUT_MS = 2000
/** Between two looks at the number of prompts. */
const LOOK_MS = 100
/** A restart of the instance forgets its cost, so what is kept there is read now and then. */
const REFRESH_MS = 60_000
const UNKNOWN_INSTANCE_MS = 60_000
const FIRST_RETRY_MS = 500
const LONGEST_RETRY_MS = 30_000
const MOST = 100_000

const costSchema = z.object({ deletion_cost: z.number().int() })

export interface DeletionCostOptions {
  /** The metadata service. */
  readonly uri: string
  /** What the instance is worth: prompts that were accepted and are not delivered yet. */
  readonly wanted: () => number
  /** Is told of each request to the service. */
  readonly onRequest: (outcome: 'ok' | 'failed') => void
  /** Is told of each cost that the service has taken. */
  readonly onCost: (cost: number) => void
  /** Milliseconds. */
  readonly now: () => number
  readonly log: Log
}

/** Has the platform scale down idle instances before this one while it has work (prompt API, section 13.1). */
export interface DeletionCost {
  open(): void
  /** To be called when there is no work left: the cost is 0 then. */
  close(): Promise<void>
}

class UnknownInstance extends Error {
  override readonly name = 'UnknownInstance'
}

/** One request at a time, each with the newest value; no failure is more than a line in the log. */
export function createDeletionCost({ uri, wanted, onRequest, onCost, now, log }: DeletionCostOptions): DeletionCost {
  const url = new URL('/v1/deletion-cost', uri)
  const closing = new AbortController()
  let keeping: Promise<void> | undefined
  /** What the service was last known to hold, and when. */
  let held: { readonly cost: number; readonly at: number } | undefined

  async function request(init: RequestInit): Promise<Response> {
    try {
      const signal = AbortSignal.timeout(TIMEOUT_MS)
      const headers = { metadata: 'true', ...(init.body && { 'content-type': 'application/json' }) }
      const response = await fetch(url, { ...init, headers, redirect: 'error', signal })
      if (response.status === 404) throw new UnknownInstance('the metadata service does not know this instance')
      if (!response.ok) throw new Error(`the metadata service answered ${response.status}`)
      onRequest('ok')
      return response
    } catch (error) {
      onRequest('failed')
      throw error
    }
  }
  async function tell(cost: number): Promise<void> {
    if (held && now() - held.at > REFRESH_MS) {
      const { deletion_cost } = costSchema.parse(await (await request({ method: 'GET' })).json())
      held = { cost: deletion_cost, at: now() }
    }
    if (held?.cost === cost) return
    await request({ method: 'PUT', body: JSON.stringify({ deletion_cost: cost }) })
    held = { cost, at: now() }
    onCost(cost)
  }
  async function keep(): Promise<void> {
    for (let failures = 0; !closing.signal.aborted; ) {
      let wait = LOOK_MS
      try {
        await tell(Math.min(MOST, wanted()))
        failures = 0
      } catch (error) {
        held = undefined
        const isUnknown = error instanceof UnknownInstance
        wait = isUnknown ? UNKNOWN_INSTANCE_MS : Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** failures)
        if (failures++ === 0) log.warn({ reason: messageOf(error) }, 'the deletion cost could not be told')
      }
      await pause(wait, undefined, { signal: closing.signal }).catch(() => undefined) // only close() ends it early
    }
  }
  return {
    open() {
      keeping ??= keep()
    },
    async close() {
      if (!keeping) return
      closing.abort()
      await keeping
      await tell(0).catch((error: unknown) => log.debug({ reason: messageOf(error) }, 'the deletion cost stays'))
    },
  }
}
