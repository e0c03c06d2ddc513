import { parentPort, workerData } from 'node:worker_threads'
import { PGlite } from '@electric-sql/pglite'
import type { DatabaseSetup, QueryResult, Reply, Statement } from './database-protocol.ts'

/** One queue needs little; the defaults reserve 128 MiB and keep up to 1 GiB of log. The last one of a name counts. */
const settings = ['shared_buffers=8MB', 'max_wal_size=64MB', 'search_path=bullmq']

const nothing: QueryResult = { rows: [], rowCount: 0 }

const { folder, create } = workerData as DatabaseSetup // nobody else starts it
const startParams = [...PGlite.defaultStartParams, ...settings.flatMap((setting) => ['-c', setting])]
const database = await PGlite.create(folder, create ? {} : { startParams })

async function run({ text, values }: Statement): Promise<QueryResult> {
  if (text === undefined) {
    await database.close()
    return nothing
  }
  const result = values ? await database.query(text, [...values]) : (await database.exec(text)).at(-1)
  return result ? { rows: result.rows, rowCount: result.affectedRows || result.rows.length } : nothing
}

const say = (reply: Reply): void => parentPort?.postMessage(reply)

async function answer(statement: Statement): Promise<void> {
  const { id } = statement
  try {
    say({ id, result: await run(statement) })
  } catch (error) {
    const { message, code, detail } = error as Error & { readonly code?: string; readonly detail?: string }
    say({ id, fault: { message, code, detail } })
  }
}

// PGlite takes one statement at a time, in their order.
parentPort?.on('message', (statement: Statement) => void answer(statement))
say({ id: 0, result: nothing })
