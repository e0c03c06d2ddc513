import { sql } from 'kysely'
import type { Db } from '../base/database.ts'

/** Those who may come in, by name: all, or those of one organization. Nothing here tells a key. */
export const createAdminLists = (db: Db) => ({
  organizations: () => db.selectFrom('organizations').select(['name', 'create_time']).orderBy('name').execute(),
  projects: (organization?: string) =>
    db
      .selectFrom('projects')
      .innerJoin('organizations', 'organizations.id', 'projects.organization_id')
      .select(['organizations.name as organization', 'projects.name as project', 'projects.create_time'])
      .$if(organization !== undefined, (query) => query.where('organizations.name', '=', organization!))
      .orderBy('organizations.name')
      .orderBy('projects.name')
      .execute(),
  users: () =>
    db
      .selectFrom('users')
      .select(['name', sql<boolean>`key_digest is not null`.as('has_key')])
      .orderBy('name')
      .execute(),
  members: (organization?: string) =>
    db
      .selectFrom('memberships')
      .innerJoin('organizations', 'organizations.id', 'memberships.organization_id')
      .innerJoin('users', 'users.id', 'memberships.user_id')
      .select(['organizations.name as organization', 'users.name as user'])
      .$if(organization !== undefined, (query) => query.where('organizations.name', '=', organization!))
      .orderBy('organizations.name')
      .orderBy('users.name')
      .execute(),
})
