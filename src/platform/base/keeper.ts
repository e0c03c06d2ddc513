import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import type { Log } from '../../common/log.ts'
import { messageOf } from './errors.ts'

/**
 * Says which of several platforms on the same records keeps the instances: one at a time. The others wait for its end and do
 * everything else.
 */
export interface Keeper {
  /** Whether it is this one, beyond doubt. */
  isKeeper(): boolean
  /** Asks for the first time, and from then on tells of every change. Resolves when the first answer is told. */
  open(changes: KeeperChanges): Promise<void>
  /** Gives its place to another. */
  close(): Promise<void>
}

export interface KeeperChanges {
  /** It is this one from now on. */
  won(): Promise<void>
  /** It is another one by now. */
  lost(): Promise<void>
}

/** Where nobody else can open the records. */
export const onlyKeeper: Keeper = Object.freeze({
  isKeeper: () => true,
  open: ({ won }: KeeperChanges) => won(),
  close: async () => undefined,
})

export interface PostgresKeeperOptions {
  readonly url: string
  readonly log: Log
}

/** Of an advisory lock, which its holder has as long as it has its connection. */
const LOCK = 7302
/** Between two questions, in milliseconds: who keeps the instances looks whether it still does, the others whether it is gone. */
const pauses = { keeping: 5000, 'in doubt': 250, waiting: 2000 }
/** One that does not keep them lets the keeper return first when all have lost their connections. */
const RETURN_MS = 5000
/** A connection that does not answer for so long is lost. */
const SILENT_MS = 10_000
/** So that the server notices a keeper whose machine is gone. */
const options = '-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3'

/**
 * The keeper is who has an advisory lock of the database. One that loses its connection is in doubt: it touches nothing until
 * it has the lock again, or learns that another has it.
 */
export function createPostgresKeeper({ url, log }: PostgresKeeperOptions): Keeper {
  const closing = new AbortController()
  let place: 'waiting' | 'keeping' | 'in doubt' = 'waiting'
  /** Whether the last change that was told is that it is this one. */
  let told = false
  /** The process of the server that has the lock for this one, or had it. */
  let backend: number | undefined
  let running: Promise<void> | undefined

  const doubt = (reason: string): void => {
    if (place !== 'keeping') return
    place = 'in doubt'
    log.warn({ reason }, 'it is not known whether the instances are kept here')
  }

  async function tell({ won, lost }: KeeperChanges, isMine: boolean): Promise<void> {
    if (place === 'in doubt')
      log.warn({}, isMine ? 'the instances are kept here' : 'another platform keeps the instances')
    place = isMine ? 'keeping' : 'waiting'
    if (isMine === told) return
    await (isMine ? won : lost)()
    told = isMine
  }

  /** Whether the lock is left from a connection whose end the server has not noticed; it is told to. */
  async function isOwnLeftover(client: Client): Promise<boolean> {
    if (place !== 'in doubt') return false
    const { rowCount } = await client.query(
      `select pg_terminate_backend(pid) from pg_locks
       where locktype = 'advisory' and objid = ${LOCK} and granted and pid = $1
         and database = (select oid from pg_database where datname = current_database())`,
      [backend],
    )
    return rowCount !== 0
  }

  /** Asks and looks as long as the connection lasts. */
  async function hold(client: Client, changes: KeeperChanges, onAnswer: () => void, end: AbortSignal): Promise<void> {
    await client.connect()
    while (!closing.signal.aborted) {
      if (place === 'keeping') await client.query('select 1')
      else if (!(await isOwnLeftover(client))) {
        const { rows } = await client.query<Answer>(
          `select pg_try_advisory_lock(${LOCK}) as mine, pg_backend_pid() as backend`,
        )
        const isMine = rows[0]?.mine === true
        if (isMine) backend = rows[0]?.backend
        await tell(changes, isMine)
        onAnswer()
      }
      await pause(pauses[place], end)
    }
  }

  async function run(changes: KeeperChanges, onAnswer: () => void): Promise<void> {
    const { default: pg } = await import('pg')
    while (!closing.signal.aborted) {
      const lost = new AbortController()
      const end = AbortSignal.any([closing.signal, lost.signal])
      const client = new pg.Client({
        ...{ connectionString: url, options, keepAlive: true },
        ...{ query_timeout: SILENT_MS, connectionTimeoutMillis: SILENT_MS },
      })
      client.on('error', ({ message }) => {
        doubt(message)
        lost.abort()
      })
      try {
        await hold(client, changes, onAnswer, end)
      } catch (error) {
        doubt(messageOf(error))
        log.debug({ reason: messageOf(error) }, 'it cannot be asked who keeps the instances')
      }
      client.end().catch(() => undefined) // it has ended, or never began
      await pause(place === 'in doubt' ? pauses[place] : RETURN_MS, closing.signal)
    }
  }

  return {
    isKeeper: () => place === 'keeping',
    open: (changes) =>
      new Promise((resolve) => {
        running = run(changes, resolve)
      }),
    async close() {
      closing.abort()
      await running
      place = 'waiting'
    },
  }
}

interface Answer {
  readonly mine: boolean
  readonly backend: number
}

const pause = (ms: number, end: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal: end }).catch(() => undefined) // only an end rejects it
