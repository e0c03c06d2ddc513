import { randomUUID } from 'node:crypto'
import { nameSchema } from '../../contracts/platform/names.ts'
import type { Db } from '../base/database.ts'
import { PlatformError } from '../base/errors.ts'
import { digestOf, newKey } from '../base/keys.ts'
import { checked } from '../base/read-body.ts'
import { userNameSchema } from './seed.ts'

/** What an administrator may do to those who may come in (section 3.2). Each throws a `PlatformError` that says why not. */
export interface AdminActions {
  addOrganization(name: string): Promise<void>
  addProject(organization: string, name: string): Promise<void>
  /** Resolves with the user's key, of which only a digest is kept. */
  addUser(name: string): Promise<string>
  /** Resolves with the new key; the old one opens nothing from then on. */
  replaceKey(user: string): Promise<string>
  addMember(organization: string, user: string): Promise<void>
  removeMember(organization: string, user: string): Promise<void>
}

export function createAdminActions(db: Db, now: () => number): AdminActions {
  const idOf = async (table: 'organizations' | 'users', name: string, what: string): Promise<string> => {
    const row = await db.selectFrom(table).select('id').where('name', '=', name).executeTakeFirst()
    if (!row) throw new PlatformError(404, `there is no ${what} ${name}`)
    return row.id
  }
  const membership = async (organization: string, user: string) => ({
    organization_id: await idOf('organizations', organization, 'organization'),
    user_id: await idOf('users', user, 'user'),
  })

  return {
    async addOrganization(given) {
      const name = checked(nameSchema, given, 'organization')
      const added = await db
        .insertInto('organizations')
        .values({ id: randomUUID(), name, create_time: new Date(now()) })
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirstOrThrow()
      if (added.numInsertedOrUpdatedRows === 0n) throw taken(`the organization ${name} is there already`)
    },
    async addProject(organization, given) {
      const name = checked(nameSchema, given, 'project')
      const organization_id = await idOf('organizations', organization, 'organization')
      const added = await db
        .insertInto('projects')
        .values({ id: randomUUID(), organization_id, name, create_time: new Date(now()) })
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirstOrThrow()
      if (added.numInsertedOrUpdatedRows === 0n) throw taken(`${organization} has a project ${name} already`)
    },
    async addUser(given) {
      const name = checked(userNameSchema, given, 'user')
      const key = newKey()
      const added = await db
        .insertInto('users')
        .values({ id: randomUUID(), name, key_digest: digestOf(key) })
        .onConflict((conflict) => conflict.column('name').doNothing())
        .executeTakeFirstOrThrow()
      if (added.numInsertedOrUpdatedRows === 0n) throw taken(`the user ${name} is there already`)
      return key
    },
    async replaceKey(user) {
      const key = newKey()
      const { numUpdatedRows } = await db
        .updateTable('users')
        .set({ key_digest: digestOf(key) })
        .where('name', '=', user)
        .executeTakeFirstOrThrow()
      if (numUpdatedRows === 0n) throw new PlatformError(404, `there is no user ${user}`)
      return key
    },
    async addMember(organization, user) {
      const added = await db
        .insertInto('memberships')
        .values(await membership(organization, user))
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirstOrThrow()
      if (added.numInsertedOrUpdatedRows === 0n) throw taken(`${user} is a member of ${organization} already`)
    },
    async removeMember(organization, user) {
      const { organization_id, user_id } = await membership(organization, user)
      const { numDeletedRows } = await db
        .deleteFrom('memberships')
        .where('organization_id', '=', organization_id)
        .where('user_id', '=', user_id)
        .executeTakeFirstOrThrow()
      if (numDeletedRows === 0n) throw new PlatformError(404, `${user} is no member of ${organization}`)
    },
  }
}

const taken = (message: string): PlatformError => new PlatformError(400, message, { slug: 'name_conflict' })
