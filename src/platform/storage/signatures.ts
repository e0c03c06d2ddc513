import { randomUUID } from 'node:crypto'
import type { Db } from '../base/database.ts'
import { digestOf } from '../base/keys.ts'
import type { Place } from './place.ts'

/** What a token opens. */
export interface Opened {
  readonly organizationId: string
  readonly path: string
}

/** Tokens of signed URLs: bound to a file's place, whatever lies there, and to reading it. */
export interface Signatures {
  /** Makes a token that is good for so many seconds. */
  sign(place: Place, seconds: number): Promise<string>
  /** What a token opens; undefined for one that is unknown or expired. */
  find(token: string): Promise<Opened | undefined>
}

/** Stores digests: who reads the records opens nothing, and how long a search takes tells nothing of a token. */
export function createSignatures(db: Db, now: () => number): Signatures {
  return {
    async sign({ organization, path }, seconds) {
      const token = randomUUID()
      const expires = new Date(now() + seconds * 1000)
      const row = { digest: digestOf(token), organization_id: organization.id, path, expires }
      await db.insertInto('file_tokens').values(row).execute()
      return token
    },
    async find(token) {
      return db
        .selectFrom('file_tokens')
        .select(['organization_id as organizationId', 'path'])
        .where('digest', '=', digestOf(token))
        .where('expires', '>', new Date(now()))
        .executeTakeFirst()
    },
  }
}
