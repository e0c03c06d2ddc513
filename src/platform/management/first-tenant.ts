import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import type { Db } from '../base/database.ts'
import { digestOf, newKey } from '../base/keys.ts'
import { addSeed, applySeed, type Seed } from './seed.ts'

/** Whom the platform introduces itself to when it starts. */
export interface Introduction {
  readonly organization: string
  readonly project: string | undefined
  /** Undefined where only its digest is known. */
  readonly key: string | undefined
  /** Whether it has just been made, and nobody has seen it. */
  readonly isNew: boolean
}

/** Where the key is kept that was made at the first start, or that the seed has, readable for its owner alone. */
export const keyFileIn = (dataDir: string): string => join(dataDir, 'api-key')

/** Lets in who `seed` names; without a seed an organization `demo` is made, once, with a project and a user of that name. */
export async function admit(db: Db, seed: Seed | undefined, dataDir: string, now: () => number): Promise<Introduction> {
  const keyFile = keyFileIn(dataDir)
  if (seed) {
    await applySeed(db, seed, now)
    const { key, organization } = firstKeyOf(seed)
    if (key === undefined) await rm(keyFile, { force: true })
    else await writeFile(keyFile, key, { mode: 0o600 })
    return { organization: organization.name, project: organization.projects[0], key, isNew: false }
  }
  const key = newKey()
  const demo: Seed = {
    organizations: [{ name: 'demo', projects: ['demo'], members: ['demo'] }],
    users: [{ name: 'demo', api_key: key }],
  }
  const isNew = await db.transaction().execute(async (transaction) => {
    // Of several platforms that start at once, one makes it.
    await sql`lock table organizations in exclusive mode`.execute(transaction)
    if (await transaction.selectFrom('organizations').select('id').executeTakeFirst()) return false
    await writeFile(keyFile, key, { mode: 0o600 })
    await addSeed(transaction, demo, now)
    return true
  })
  if (isNew) return { organization: 'demo', project: 'demo', key, isNew }
  const known = await db.selectFrom('organizations').select('name').orderBy('create_time').executeTakeFirstOrThrow()
  return {
    organization: known.name,
    project: await firstProjectOf(db, known.name),
    key: await keptKey(db, keyFile),
    isNew,
  }
}

/** The first organization that has a member whose key is written out; else the first one. */
function firstKeyOf({ organizations, users }: Seed) {
  for (const organization of organizations)
    for (const user of users)
      if ('api_key' in user && organization.members.includes(user.name)) return { organization, key: user.api_key }
  return { organization: organizations[0]!, key: undefined } // there is at least one
}

/** The key that was written down; undefined when that was done elsewhere, or it has been replaced since. */
async function keptKey(db: Db, keyFile: string): Promise<string | undefined> {
  const key = await readFile(keyFile, 'utf8').catch(() => undefined)
  if (key === undefined) return undefined
  const user = await db.selectFrom('users').select('id').where('key_digest', '=', digestOf(key)).executeTakeFirst()
  return user && key
}

async function firstProjectOf(db: Db, organization: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('projects')
    .innerJoin('organizations', 'organizations.id', 'projects.organization_id')
    .select('projects.name')
    .where('organizations.name', '=', organization)
    .orderBy('projects.create_time')
    .executeTakeFirst()
  return row?.name
}
