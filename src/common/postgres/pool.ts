import type { PgPool, PgPoolClient, PgQueryResult } from 'bullmq'
import type { Database } from './database.ts'

/**
 * What BullMQ asks of a pool of connections, over the one that the database has: between `BEGIN` and its end, everybody
 * else waits.
 */
export function createPool(database: Database): PgPool {
  let last: Promise<unknown> = Promise.resolve()

  /** Resolves when it is this caller's turn, with what lets the next one in. */
  const turn = (): Promise<() => void> => {
    const before = last
    let leave = (): void => undefined
    last = new Promise<void>((resolve) => {
      leave = resolve
    })
    return before.then(() => leave)
  }

  async function alone(text: string, values?: readonly unknown[]) {
    const leave = await turn()
    try {
      return await database.query(text, values)
    } finally {
      leave()
    }
  }

  function client(): PgPoolClient {
    let leave: (() => void) | undefined
    const one: PgPoolClient = {
      ...silent(() => one),
      async query<R>(text: string, values?: readonly unknown[]): Promise<PgQueryResult<R>> {
        if (/^\s*BEGIN\b/i.test(text)) leave ??= await turn()
        if (!leave) return shaped(text, await alone(text, values))
        try {
          return shaped(text, await database.query(text, values))
        } finally {
          if (/^\s*(COMMIT|ROLLBACK)\b(?!\s+TO\b)/i.test(text)) {
            leave()
            leave = undefined
          }
        }
      },
      release: () => leave?.(),
    }
    return one
  }

  const pool: PgPool = {
    ...silent(() => pool),
    connect: async () => client(),
    query: async <R>(text: string, values?: readonly unknown[]) => shaped<R>(text, await alone(text, values)),
    end: async () => undefined,
  }
  return pool
}

/** Nothing is ever told here: what fails is a statement, and whoever made it hears of that. */
const silent = <Self>(self: () => Self) => ({ on: self, removeListener: self, removeAllListeners: self })

/**
 * Who writes a statement knows its rows. Kysely counts changed rows only where it is told which kind of statement it was.
 */
const shaped = <R>(
  text: string,
  result: { readonly rows: readonly unknown[]; readonly rowCount: number },
): PgQueryResult<R> & { readonly command: string } => ({
  command: /[a-z]+/i.exec(text)?.[0].toUpperCase() ?? '',
  rows: [...result.rows] as R[],
  rowCount: result.rowCount,
})
