import { existsSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { DatabaseSetup, QueryResult, Reply, Statement } from './database-protocol.ts'

/** PostgreSQL in this process, in a thread of its own: its statements and its start block whatever they run on. */
export interface Database {
  query(text: string, values?: readonly unknown[]): Promise<QueryResult>
  close(): Promise<void>
}

/** A database is complete when it stands under its name; see `openDatabase`. */
export const hasDatabase = (folder: string): boolean => existsSync(join(folder, 'PG_VERSION'))

/**
 * Opens the database in `folder`, and makes it first if there is none. `entry` is `database-thread`. When the thread
 * dies, what was asked of it fails, and the next query starts another: everything it answered is on the disk.
 */
export async function openDatabase(folder: string, entry: URL): Promise<Database> {
  if (!hasDatabase(folder)) await create(folder, entry)
  let thread: Promise<Thread> | undefined
  const running = (): Promise<Thread> => {
    const started = startThread(entry, { folder, create: false }, () => {
      if (thread === started) thread = undefined
    })
    thread = started
    return started
  }
  await running()
  return {
    async query(text, values) {
      const { ask } = await (thread ?? running())
      return ask(values === undefined ? { text } : { text, values })
    },
    async close() {
      const last = thread
      thread = undefined
      await (await last)?.close()
    },
  }
}

/** Under another name first, so that an interrupted start leaves nothing that looks like a database. */
async function create(folder: string, entry: URL): Promise<void> {
  const unfinished = `${folder}.new`
  await mkdir(dirname(folder), { recursive: true })
  await rm(unfinished, { recursive: true, force: true })
  const thread = await startThread(entry, { folder: unfinished, create: true }, () => undefined)
  await thread.close()
  await rename(unfinished, folder)
}

interface Thread {
  ask(statement: Omit<Statement, 'id'>): Promise<QueryResult>
  /** Closes the database; resolves when the thread is gone. */
  close(): Promise<void>
}

interface Waiting {
  resolve(result: QueryResult): void
  reject(error: Error): void
}

function startThread(entry: URL, setup: DatabaseSetup, onEnd: () => void): Promise<Thread> {
  const worker = new Worker(entry, { workerData: setup })
  const waiting = new Map<number, Waiting>()
  let asked = 0
  let end = new Error('the database has ended')
  const gone = new Promise<void>((resolve) => {
    worker.once('exit', () => {
      for (const { reject } of waiting.values()) reject(end)
      waiting.clear()
      onEnd()
      resolve()
    })
  })
  worker.once('error', (cause) => {
    end = new Error('the database has failed', { cause })
  })
  worker.on('message', (reply: Reply) => {
    const asker = waiting.get(reply.id)
    waiting.delete(reply.id)
    if ('result' in reply) asker?.resolve(reply.result)
    else asker?.reject(Object.assign(new Error(reply.fault.message), reply.fault)) // BullMQ reads `code` and `detail`
  })
  const answer = (id: number): Promise<QueryResult> =>
    new Promise((resolve, reject) => waiting.set(id, { resolve, reject }))
  const ask = (statement: Omit<Statement, 'id'>): Promise<QueryResult> => {
    const id = ++asked
    const answered = answer(id)
    worker.postMessage({ id, ...statement } satisfies Statement)
    return answered
  }
  return answer(0).then(() => ({
    ask,
    async close() {
      await ask({}).catch(() => undefined) // ended already, or ends now
      await worker.terminate()
      await gone
    },
  }))
}
