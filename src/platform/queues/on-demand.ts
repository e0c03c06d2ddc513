/** A program that was started; it may have ended meanwhile. */
export interface Started {
  readonly url: URL
  /** Resolves when it has ended, for whatever reason. */
  readonly ended: Promise<unknown>
  /** Whether it still takes work. */
  isThere(): Promise<boolean>
  /** Resolves when it has ended. */
  stop(): Promise<void>
}

export interface OnDemandOptions {
  /** Resolves when it can be used; rejects when it cannot be started, or when `signal` says that nobody waits for it. */
  readonly start: (signal: AbortSignal) => Promise<Started>
  /** How long it may be without work before it is ended, in milliseconds. */
  readonly idleMs: number
}

/** A program that runs while there is work for it. */
export interface OnDemand {
  /** Has it running while `work` lasts: it is started when it is not there, for the first time or any more. */
  use<T>(work: (url: URL) => Promise<T>): Promise<T>
  /** Ends it; from now on it cannot be used. */
  close(): Promise<void>
}

/** One at a time, for the next is not started before the last has ended: they may share a folder. */
export function createOnDemand({ start, idleMs }: OnDemandOptions): OnDemand {
  let current: { readonly started: Promise<Started>; readonly abort: AbortController } | undefined
  let ending: Promise<unknown> = Promise.resolve()
  let users = 0
  let idle: NodeJS.Timeout | undefined
  let closed = false

  function begin(): Promise<Started> {
    const abort = new AbortController()
    const started = ending.then(() => {
      if (closed) throw new Error('the platform is stopping')
      return start(abort.signal)
    })
    const run = { started, abort }
    current = run
    const forget = () => {
      if (current === run) current = undefined
    }
    started.then(({ ended }) => ended).then(forget, forget)
    return started
  }
  function end(): Promise<unknown> {
    const { started, abort } = current ?? {}
    current = undefined
    abort?.abort()
    const stopped = started?.then(
      (program) => program.stop(),
      () => undefined, // it never ran, which whoever asked for it is told
    )
    ending = Promise.allSettled([ending, stopped])
    return ending
  }
  async function running(): Promise<Started> {
    const run = current
    if (!run) return begin()
    const program = await run.started
    if (await program.isThere()) return program
    if (current === run) void end()
    return running()
  }
  return {
    async use(work) {
      users++
      clearTimeout(idle)
      try {
        return await work((await running()).url)
      } finally {
        users--
        if (users === 0 && !closed) idle = setTimeout(() => void end(), idleMs)
      }
    },
    async close() {
      closed = true
      clearTimeout(idle)
      await end()
    },
  }
}
