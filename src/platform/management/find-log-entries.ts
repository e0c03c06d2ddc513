import { sql } from 'kysely'
import type { Db } from '../base/database.ts'
import type { LogFilter } from './log-query.ts'
import { sqlOf } from './log-query-sql.ts'

/** Entries that one statement looks through: an embedded database answers nobody else meanwhile. */
const SLICE = 10_000

export interface LogQuestion {
  readonly organizationId: string
  /** From then on, and before then. */
  readonly start: Date
  readonly end: Date
  readonly filter: LogFilter
  readonly order: 'asc' | 'desc'
  readonly limit: number
}

export type FoundLogEntry = Awaited<ReturnType<typeof entriesBetween>>[number]

/** A place in the order of entries. */
interface Place {
  readonly time: Date
  readonly id: number
}

/** The first entries that match, in their order. Stops early, with what it has, when nobody wants them any more. */
export async function findLogEntries(
  db: Db,
  question: LogQuestion,
  isWanted: () => boolean,
): Promise<readonly FoundLogEntry[]> {
  const found: FoundLogEntry[] = []
  let behind: Place | undefined
  do {
    const upTo = await endOfSlice(db, question, behind)
    const limit = question.limit - found.length
    found.push(...(await entriesBetween(db, { ...question, limit }, behind, upTo)))
    behind = upTo
  } while (behind && found.length < question.limit && isWanted())
  return found
}

/** The last entry of the slice that begins behind a place; undefined when it ends with the entries. */
const endOfSlice = (db: Db, question: LogQuestion, behind: Place | undefined): Promise<Place | undefined> =>
  entriesBehind(db, question, behind)
    .select(['time', 'id'])
    .limit(1)
    .offset(SLICE - 1)
    .executeTakeFirst()

const entriesBetween = (db: Db, question: LogQuestion, behind: Place | undefined, upTo: Place | undefined) =>
  entriesBehind(db, question, behind)
    .select(['time', 'receive_time', 'severity', 'resource_type', 'labels', 'text_log'])
    .select(sql<string | null>`json_log::text`.as('json_text')) // as it is stored, to its last digit
    .$if(upTo !== undefined, (query) => query.where(isUpTo(question, upTo!)))
    .where(sqlOf(question.filter))
    .limit(question.limit)
    .execute()

function entriesBehind(db: Db, question: LogQuestion, behind: Place | undefined) {
  const { organizationId, start, end, order } = question
  return db
    .selectFrom('log_entries')
    .where('organization_id', '=', organizationId)
    .where('time', '>=', start)
    .where('time', '<', end)
    .$if(behind !== undefined, (query) => query.where(isBehind(question, behind!)))
    .orderBy('time', order)
    .orderBy('id', order)
}

const isBehind = ({ order }: LogQuestion, { time, id }: Place) =>
  order === 'asc' ? sql<boolean>`(time, id) > (${time}, ${id})` : sql<boolean>`(time, id) < (${time}, ${id})`

const isUpTo = ({ order }: LogQuestion, { time, id }: Place) =>
  order === 'asc' ? sql<boolean>`(time, id) <= (${time}, ${id})` : sql<boolean>`(time, id) >= (${time}, ${id})`
