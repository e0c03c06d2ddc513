import { inject } from 'vitest'
import type { Database } from '../../src/platform/base/database.ts'
import { platformDatabase } from './platform-database.ts'
import { postgresMissing, sharedPostgres } from './postgres.ts'
import { redisDatabase } from './redis-database.ts'
import { serverDatabase } from './server-database.ts'

/** Where the platform keeps its records, and whose turn it is. */
export interface Backend {
  readonly name: string
  /** Why it cannot be tested here, in brackets; else empty. */
  readonly missing: string
  /** One for the file. */
  database(): Database
  /** Of an empty Redis for the length of one test; undefined where there is none. */
  redisUrl(): Promise<string | undefined>
}

const bracketed = (reason: string): string => reason && ` (${reason})`
const withoutRedis = async () => undefined

/** The only one that is always there. To be called while tests are declared. */
export const embedded = (): Backend => ({
  name: 'embedded',
  missing: '',
  database: platformDatabase(),
  redisUrl: withoutRedis,
})

/** All there are. To be called while tests are declared. */
export function allBackends(): readonly Backend[] {
  const redis = { missing: bracketed(inject('redisMissing')), redisUrl: redisDatabase }
  const one = embedded()
  const missing = bracketed(postgresMissing())
  const server = serverDatabase(sharedPostgres())
  return [
    one,
    { ...one, ...redis, name: 'embedded and Redis' },
    { name: 'PostgreSQL', missing, database: server, redisUrl: withoutRedis },
    { ...redis, name: 'PostgreSQL and Redis', missing: missing || redis.missing, database: server },
  ]
}
