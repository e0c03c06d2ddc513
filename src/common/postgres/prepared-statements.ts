import { type PGlite, protocol } from '@electric-sql/pglite'
import type { QueryResult } from './database-protocol.ts'

const { serialize } = protocol

/** Texts that were used last; each costs some kilobytes. */
const MOST = 500
/** Statements after which those that were prepared still mean the same. */
const KEEPS_MEANING = /^\s*(select|insert|update|delete|with|begin|commit|rollback|savepoint|release|set|notify)\b/i
/** What was prepared is gone, or its columns have changed. */
const STALE = ['26000', '0A000']

type Described = Awaited<ReturnType<PGlite['describeQuery']>>

interface Prepared extends Described {
  readonly name: string
}

/** Statements with values, each text prepared once: that takes a fifth of the time. One at a time is to be asked for. */
export function createPreparedStatements(database: PGlite) {
  const known = new Map<string, Prepared>()
  let names = 0

  const send = async (...messages: readonly Uint8Array[]) => {
    const answer = await database.execProtocol(joined([...messages, serialize.sync()]), { throwOnError: false })
    const failure = answer.messages.find(({ name }) => name === 'error')
    const state = answer.messages.find((message) => message.name === 'readyForQuery')
    return { ...answer, failure, isInTransaction: (state as { readonly status?: string } | undefined)?.status !== 'I' }
  }
  const forget = async (text: string, { name }: Prepared): Promise<void> => {
    known.delete(text)
    await send(serialize.close({ type: 'S', name }))
  }
  async function prepare(text: string): Promise<Prepared> {
    const prepared = { ...(await database.describeQuery(text)), name: `s${++names}` }
    const { failure } = await send(serialize.parse({ name: prepared.name, text }))
    if (failure) throw failure
    const [oldest] = known
    if (known.size >= MOST && oldest) await forget(...oldest)
    return prepared
  }

  /** Throws PostgreSQL's error, with its `code` and `detail`. */
  return async function query(text: string, values: readonly unknown[]): Promise<QueryResult> {
    const before = known.get(text)
    const statement = before ?? (await prepare(text))
    known.delete(text)
    known.set(text, statement) // at the end, as the one used last
    const given = values.map((value, i) => written(value, statement.queryParams[i]))
    const bound = serialize.bind({ statement: statement.name, values: given })
    const { messages, failure, isInTransaction } = await send(bound, serialize.execute({}))
    if (failure) {
      const { code = '' } = failure as { readonly code?: string }
      if (!before || isInTransaction || !STALE.includes(code)) throw failure
      await forget(text, statement)
      return query(text, values)
    }
    if (!KEEPS_MEANING.test(text)) {
      known.clear()
      await database.exec('deallocate all')
    }
    const rows = messages.flatMap((message) => ('fields' in message && message.name === 'dataRow' ? [message] : []))
    return {
      rows: rows.map(({ fields }) => rowOf(fields as readonly (string | null)[], statement)),
      rowCount: countIn(messages) ?? rows.length,
    }
  }
}

function joined(messages: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(messages.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const message of messages) {
    whole.set(message, at)
    at += message.length
  }
  return whole
}

/** As text, by the type of the parameter. */
function written(value: unknown, parameter: Described['queryParams'][number] | undefined): string | null {
  if (value === null || value === undefined) return null
  return parameter?.serializer ? parameter.serializer(value) : String(value)
}

const rowOf = (fields: readonly (string | null)[], { resultFields }: Prepared) =>
  Object.fromEntries(
    resultFields.map(({ name, dataTypeID, parser }, i) => {
      const text = fields[i] ?? null
      return [name, text === null || !parser ? text : parser(text, dataTypeID)]
    }),
  )

/** Rows that were found or changed, from e.g. `INSERT 0 3`. */
function countIn(messages: readonly { readonly name: string }[]): number | undefined {
  const complete = messages.find(({ name }) => name === 'commandComplete') as { readonly text?: string } | undefined
  const count = Number(complete?.text?.split(' ').at(-1))
  return Number.isNaN(count) ? undefined : count
}
