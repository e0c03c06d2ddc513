import { parentPort, workerData } from 'node:worker_threads'
import { PGlite } from '@electric-sql/pglite'
import type { DatabaseSetup, QueryResult, Reply, Statement } from './database-protocol.ts'
import { createPreparedStatements } from './prepared-statements.ts'

/** One queue needs little; the defaults reserve 128 MiB and keep up to 1 GiB of log. The last one of a name counts. */
const settings = ['shared_buffers=8MB', 'max_wal_size=64MB', 'search_path=bullmq']

const nothing: QueryResult = { rows: [], rowCount: 0 }

const { folder, create } = workerData as DatabaseSetup // nobody else starts it
const startParams = [...PGlite.defaultStartParams, ...settings.flatMap((setting) => ['-c', setting])]
const database = await PGlite.create(folder, create ? {} : { startParams })
const query = createPreparedStatements(database)

async function run({ text, values }: Statement): Promise<QueryResult> {
  if (text === undefined) {
    await database.close()
    return nothing
  }
  if (values) return query(text, values)
  const result = (await database.exec(text)).at(-1)
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

let last: Promise<void> = Promise.resolve()
parentPort?.on('message', (statement: Statement) => {
  last = last.then(() => answer(statement))
})
say({ id: 0, result: nothing })
