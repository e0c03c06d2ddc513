/** A prompt that must not get lost, as it is asked for. Nothing in it changes before it has ended. */
export interface QueueRequest {
  /** The prompt's id: one entry has it at a time. */
  readonly id: string
  /** Which run of that id, from 1. */
  readonly run: number
  /** Everything it takes to do it, as text; holds no secret in the clear. */
  readonly asked: string
  /** -1000 to 1000: larger ones go first, and among equals who came first. */
  readonly priority: number
  /** Epoch milliseconds. */
  readonly created: number
}

/** What a queue knows of a prompt. */
export interface QueueEntry extends QueueRequest {
  /** `held`: a server works at it. `ended` entries are kept for a while. */
  readonly stage: 'waiting' | 'held' | 'ended'
  /** How often a server has taken it since it was submitted or revived, given back ones not counted. */
  readonly starts: number
  /** The newest note of those who held it, as text; undefined before the first. */
  readonly note: string | undefined
  /** Whether somebody wants it stopped. */
  readonly cancelled: boolean
  /** How many go before it; only of one that waits. */
  readonly position: number | undefined
}

/** An entry in the hands of this server. */
export interface HeldEntry extends QueueEntry {
  /**
   * Aborts with a `HoldLost` when the hold is lost (nothing was heard of this server for too long, and another may have
   * the entry now), and with a `Stopped` when somebody wants the prompt stopped.
   */
  readonly signal: AbortSignal
  /** Durable when it resolves. Throws `HoldLost`. */
  keep(note: string): Promise<void>
  /**
   * Ends the entry with a last note, and with `asked` in place of what was asked, which may be large, when nothing of it
   * will be needed again. Throws `HoldLost`.
   */
  end(note: string, asked?: string): Promise<void>
  /** Puts it back where it waited: this taking does not count. Throws `HoldLost`. */
  giveBack(): Promise<void>
}

/** The entry is another server's by now: whoever held it must stop and tell nobody. */
export class HoldLost extends Error {
  override readonly name = 'HoldLost'
}

/** Somebody wants a prompt stopped that another server took in. */
export class Stopped extends Error {
  override readonly name = 'Stopped'
}

/**
 * Prompts that wait for a server, or are in the hands of one. Whatever happens to servers, each entry is handed out
 * until it is ended: at least once, and to one server at a time as far as that can be known.
 */
export interface JobQueue {
  /**
   * Durable when it resolves, with what stands under the id: the new entry, or one that was there already.
   */
  submit(request: QueueRequest): Promise<QueueEntry>
  find(id: string): Promise<QueueEntry | undefined>
  /** Waiting, held and ended ones, oldest first; of the ended ones the newest `mostEnded`. */
  list(mostEnded: number): Promise<readonly QueueEntry[]>
  /** Entries that wait, as far as this server knows; never behind its own submissions. */
  readonly waiting: number
  /**
   * From now on takes entries while `hasRoom()`, each as soon as there is one, and hands them to `handle`, which ends
   * them or gives them back; it does not throw. An entry stays held however long that takes.
   */
  work(handle: (held: HeldEntry) => Promise<void>, hasRoom: () => boolean): void
  /** To be called when `hasRoom` may have changed. */
  roomChanged(): void
  /** Marks a waiting or held entry as unwanted; whoever holds or takes it hears of it. False when there is none. */
  cancel(id: string): Promise<boolean>
  /** Lets an ended entry wait again, with `note` as its newest. False when there is none. */
  revive(id: string, note: string): Promise<boolean>
  /** Forgets an entry that has ended, or that nobody holds. */
  remove(id: string): Promise<void>
  /** Whether it can be reached; a shared queue may be down for a moment. */
  readonly reachable: boolean
  /** Takes no more, and resolves when what is held was ended or given back. */
  rest(): Promise<void>
  close(): Promise<void>
}
