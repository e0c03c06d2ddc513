import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Db } from '../base/database.ts'
import { newKey } from '../base/keys.ts'
import { applySeed, type Seed } from './seed.ts'

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
  const known = await db.selectFrom('organizations').select('name').orderBy('create_time').executeTakeFirst()
  if (known) {
    const key = await readFile(keyFile, 'utf8').catch(() => undefined) // made by another process, or by a seed
    return { organization: known.name, project: await firstProjectOf(db, known.name), key, isNew: false }
  }
  const key = newKey()
  const demo: Seed = {
    organizations: [{ name: 'demo', projects: ['demo'], members: ['demo'] }],
    users: [{ name: 'demo', api_key: key }],
  }
  await writeFile(keyFile, key, { mode: 0o600 })
  await applySeed(db, demo, now)
  return { organization: 'demo', project: 'demo', key, isNew: true }
}

/** The first organization that has a member whose key is written out; else the first one. */
function firstKeyOf({ organizations, users }: Seed) {
  for (const organization of organizations)
    for (const user of users)
      if ('api_key' in user && organization.members.includes(user.name)) return { organization, key: user.api_key }
  return { organization: organizations[0]!, key: undefined } // there is at least one
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
