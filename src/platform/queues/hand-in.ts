import type { Log } from '../../common/log.ts'
import { messageOf } from '../base/errors.ts'
import type { Dispatch } from './dispatch.ts'
import { bullNameOf, type JobPlace } from './job-place.ts'

/** Has the hand-out know of jobs whose record is written: they are accepted by that, whatever happens here. */
export interface HandIn {
  /** Those that come together go together. */
  add(place: JobPlace, id: string): void
  /** Not to be handed out after all. */
  remove(place: JobPlace, id: string): void
  /** Tries again what did not work. */
  addMissing(): Promise<void>
}

export interface HandInOptions {
  readonly dispatch: Dispatch
  /** Called after jobs were added. */
  readonly onAdded: (place: JobPlace) => void
  readonly log: Log
}

export function createHandIn({ dispatch, onAdded, log }: HandInOptions): HandIn {
  const missing = new Map<string, { readonly place: JobPlace; readonly ids: Set<string> }>()
  let round: Promise<void> | undefined

  function note(place: JobPlace, ids: Iterable<string>): void {
    const name = bullNameOf(place)
    const known = missing.get(name) ?? { place, ids: new Set() }
    for (const id of ids) known.ids.add(id)
    missing.set(name, known)
  }
  /** Resolves with whether all were added. */
  async function addAll(): Promise<boolean> {
    let isDone = true
    for (const [name, { place, ids }] of [...missing]) {
      missing.delete(name)
      try {
        await dispatch.add(name, [...ids])
        onAdded(place)
      } catch (error) {
        isDone = false
        note(place, ids)
        log.warn({ jobs: ids.size, reason: messageOf(error) }, 'jobs wait until the queue can be reached')
      }
    }
    return isDone
  }
  async function addMissing(): Promise<void> {
    // What comes during a round goes into the next; after a failure there is none until somebody asks.
    for (let isDone = true; isDone && missing.size > 0; ) {
      await new Promise((resolve) => setImmediate(resolve))
      isDone = await addAll()
    }
  }
  const inRounds = (): Promise<void> => {
    round ??= addMissing().finally(() => {
      round = undefined
    })
    return round
  }
  return {
    add(place, id) {
      note(place, [id])
      void inRounds()
    },
    remove(place, id) {
      missing.get(bullNameOf(place))?.ids.delete(id)
    },
    addMissing: inRounds,
  }
}
