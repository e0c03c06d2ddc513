import type { Db } from './database.ts'
import { digestOf } from './keys.ts'

export interface User {
  readonly id: string
  readonly name: string
}

export interface Organization {
  readonly id: string
  readonly name: string
}

export interface Project {
  readonly id: string
  readonly name: string
}

/** Who may come in where (platform reference, section 3.2). Names are those of paths: they hold no NUL. */
export interface Members {
  /** Whose key it is. */
  userOf(key: string): Promise<User | undefined>
  organization(name: string): Promise<Organization | undefined>
  isMember(userId: string, organizationId: string): Promise<boolean>
  project(organizationId: string, name: string): Promise<Project | undefined>
}

/** Asks the records each time. */
export const createMembers = (db: Db): Members => ({
  userOf: (key) =>
    db.selectFrom('users').select(['id', 'name']).where('key_digest', '=', digestOf(key)).executeTakeFirst(),
  organization: (name) =>
    db.selectFrom('organizations').select(['id', 'name']).where('name', '=', name).executeTakeFirst(),
  async isMember(userId, organizationId) {
    const row = await db
      .selectFrom('memberships')
      .select('user_id')
      .where('user_id', '=', userId)
      .where('organization_id', '=', organizationId)
      .executeTakeFirst()
    return row !== undefined
  },
  project: (organizationId, name) =>
    db
      .selectFrom('projects')
      .select(['id', 'name'])
      .where('organization_id', '=', organizationId)
      .where('name', '=', name)
      .executeTakeFirst(),
})
