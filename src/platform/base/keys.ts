import { createHash, randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Db } from './database.ts'

export interface User {
  readonly id: string
  readonly name: string
}

/** What is stored of a key, and compared: its SHA-256 in hexadecimal. */
export const digestOf = (key: string): string => createHash('sha256').update(key).digest('hex')

/** A key that nobody can guess. */
export const newKey = (): string => randomBytes(32).toString('base64url')

/** Whose key the header `Service-Api-Key` of a request holds; undefined when it is missing, empty or unknown. */
export async function userOfRequest(db: Db, { headers }: IncomingMessage): Promise<User | undefined> {
  const key = headers['service-api-key']
  if (typeof key !== 'string' || key === '') return undefined
  return db.selectFrom('users').select(['id', 'name']).where('key_digest', '=', digestOf(key)).executeTakeFirst()
}

/** Whether a user may use an organization. */
export async function isMember(db: Db, userId: string, organizationId: string): Promise<boolean> {
  const row = await db
    .selectFrom('memberships')
    .select('user_id')
    .where('user_id', '=', userId)
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()
  return row !== undefined
}
