import { type Hold, holdOf } from './hold.ts'
import type { JobQueue, QueueEntry, QueueRequest } from './job-queue.ts'

/** Ended entries kept at most, here and in a database. */
export const MOST_ENDED = 10_000

interface Kept {
  request: QueueRequest
  stage: QueueEntry['stage']
  starts: number
  note: string | undefined
  cancelled: boolean
  /** Its place among equals; it keeps it when it is given back. */
  turn: number
  endedAt: number
  hold: Hold | undefined
}

/** Prompts wait in this process and are lost with it; ended ones are kept `retentionMs`. */
export function createMemoryQueue({
  now,
  retentionMs,
}: {
  /** Epoch milliseconds. */
  readonly now: () => number
  readonly retentionMs: number
}): JobQueue {
  const entries = new Map<string, Kept>()
  /** Who goes first stands first. */
  const waiting: Kept[] = []
  const handling = new Set<Promise<void>>()
  let turns = 0
  let take = (): void => undefined
  let resting = false

  const known = (id: string): Kept | undefined => {
    const kept = entries.get(id)
    if (kept?.stage !== 'ended' || kept.endedAt + retentionMs > now()) return kept
    entries.delete(id)
    return undefined
  }
  const ended = (): Kept[] => {
    const all = [...entries.keys()].flatMap((id) => known(id) ?? []).filter(({ stage }) => stage === 'ended')
    return all.sort((one, other) => other.endedAt - one.endedAt)
  }
  const view = (kept: Kept): QueueEntry => ({
    ...kept.request,
    stage: kept.stage,
    starts: kept.starts,
    note: kept.note,
    cancelled: kept.cancelled,
    position: kept.stage === 'waiting' ? waiting.indexOf(kept) : undefined,
  })
  const line = (kept: Kept): void => {
    kept.stage = 'waiting'
    const after = waiting.findIndex((other) => goesBefore(kept, other))
    waiting.splice(after < 0 ? waiting.length : after, 0, kept)
    queueMicrotask(take)
  }
  const hold = (kept: Kept): Hold => {
    const held = holdOf({
      keep: async (note) => {
        kept.note = note
      },
      end: async (note, asked = kept.request.asked) => {
        kept.request = { ...kept.request, asked }
        Object.assign(kept, { note, stage: 'ended', endedAt: now(), hold: undefined })
        for (const { request } of ended().slice(MOST_ENDED)) entries.delete(request.id)
      },
      giveBack: async () => {
        kept.starts--
        kept.hold = undefined
        line(kept)
      },
    })
    if (kept.cancelled) held.stop()
    return held
  }

  return {
    async submit(request) {
      const before = known(request.id)
      if (before) return view(before)
      const kept: Kept = {
        request,
        stage: 'waiting',
        starts: 0,
        note: undefined,
        cancelled: false,
        turn: turns++,
        endedAt: 0,
        hold: undefined,
      }
      entries.set(request.id, kept)
      line(kept)
      return view(kept)
    },
    async find(id) {
      const kept = known(id)
      return kept && view(kept)
    },
    async list(mostEnded) {
      const open = [...entries.values()].filter(({ stage }) => stage !== 'ended')
      return [...open, ...ended().slice(0, mostEnded)].map(view).sort((one, other) => one.created - other.created)
    },
    get waiting() {
      return waiting.length
    },
    work(handle, hasRoom) {
      take = () => {
        while (!resting && waiting.length > 0 && hasRoom()) {
          const kept = waiting.shift() as Kept // there is one, see above
          kept.stage = 'held'
          kept.starts++
          kept.hold = hold(kept)
          const handled = handle({ ...view(kept), ...kept.hold.hands })
          handling.add(handled)
          void handled.finally(() => handling.delete(handled))
        }
      }
      queueMicrotask(take)
    },
    roomChanged: () => take(),
    async cancel(id) {
      const kept = known(id)
      if (!kept || kept.stage === 'ended') return false
      kept.cancelled = true
      kept.hold?.stop()
      return true
    },
    async revive(id, note) {
      const kept = known(id)
      if (kept?.stage !== 'ended') return false
      Object.assign(kept, { note, cancelled: false, starts: 0, turn: turns++ })
      line(kept)
      return true
    },
    async remove(id) {
      const kept = known(id)
      if (!kept || kept.stage === 'held') return
      if (kept.stage === 'waiting') waiting.splice(waiting.indexOf(kept), 1)
      entries.delete(id)
    },
    reachable: true,
    async rest() {
      resting = true
      await Promise.all(handling)
    },
    async close() {
      resting = true
      for (const { hold } of entries.values()) hold?.lose()
    },
  }
}

const goesBefore = (one: Kept, other: Kept): boolean =>
  one.request.priority === other.request.priority
    ? one.turn < other.turn
    : one.request.priority > other.request.priority
