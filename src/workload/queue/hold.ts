import { unlessAborted } from '../base/abort.ts'
import { type HeldEntry, HoldLost, Stopped } from './job-queue.ts'

/** What the holder of an entry does with it. */
export type Hands = Pick<HeldEntry, 'signal' | 'keep' | 'end' | 'giveBack'>

/** An entry in the hands of this server, seen by its queue. */
export interface Hold {
  readonly hands: Hands
  /** Whether it was ended, given back or lost. */
  readonly over: boolean
  /** Somebody wants the prompt stopped. */
  stop(): void
  /** Another may have the entry from now on: whatever the holder still does with it fails. */
  lose(): void
}

/** How a queue does what the holder asks for. Each throws `HoldLost` when the entry is not this server's any more. */
export type Acts = Pick<HeldEntry, 'keep' | 'end' | 'giveBack'>

export function holdOf(acts: Acts): Hold {
  const ended = new AbortController()
  const lost = new AbortController()
  let over = false

  const lose = (): void => {
    if (over) return
    over = true
    lost.abort(new HoldLost('another server may have this prompt now'))
    ended.abort(lost.signal.reason)
  }
  const act = async (work: () => Promise<void>): Promise<void> => {
    lost.signal.throwIfAborted()
    if (over) throw new HoldLost('this prompt was ended or given back')
    try {
      await unlessAborted(work(), lost.signal)
    } catch (error) {
      if (error instanceof HoldLost) lose()
      throw error
    }
  }
  const last = async (work: () => Promise<void>): Promise<void> => {
    await act(work)
    over = true
  }

  return {
    hands: {
      signal: ended.signal,
      keep: (note) => act(() => acts.keep(note)),
      end: (note, asked) => last(() => acts.end(note, asked)),
      giveBack: () => last(acts.giveBack),
    },
    get over() {
      return over
    },
    stop: () => ended.abort(new Stopped('the prompt was cancelled')),
    lose,
  }
}
