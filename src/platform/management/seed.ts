import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Transaction } from 'kysely'
import { z } from 'zod'
import { nameSchema } from '../../contracts/platform/names.ts'
import type { Db } from '../base/database.ts'
import { digestOf } from '../base/keys.ts'
import type { Tables } from '../base/tables.ts'

/** Of a user; no path has it, so it may be written in any language. */
export const userNameSchema = z
  .string()
  .min(1)
  .max(255)
  .regex(/^\P{Cc}*$/u, 'must have no control characters')

const seedSchema = z
  .strictObject({
    organizations: z
      .array(
        z.strictObject({
          name: nameSchema,
          projects: z.array(nameSchema).default([]),
          /** Names of users. */
          members: z.array(userNameSchema).default([]),
        }),
      )
      .min(1),
    /** Each with a key, or with the SHA-256 of one in hexadecimal. */
    users: z.array(
      z.union([
        z.strictObject({ name: userNameSchema, api_key: z.string().min(16).max(1000) }),
        z.strictObject({ name: userNameSchema, api_key_sha256: z.string().regex(/^[\da-f]{64}$/) }),
      ]),
    ),
  })
  .refine(
    ({ organizations, users }) =>
      organizations.every(({ members }) => members.every((member) => users.some(({ name }) => name === member))),
    'every member must be one of the users',
  )

/** Who may come in: organizations with their projects and members, and users with their keys (section 3.2). */
export type Seed = z.infer<typeof seedSchema>

/** Reads a seed from a JSON file. Throws an error that names the file and every fault in it. */
export async function readSeed(file: string): Promise<Seed> {
  const parsed = seedSchema.safeParse(JSON.parse(await readFile(file, 'utf8')))
  if (!parsed.success) throw new Error(`the seed in ${file} is not valid:\n${z.prettifyError(parsed.error)}`)
  return parsed.data
}

/**
 * Makes `seed` the whole truth about who may come in. Users it does not name lose their keys and memberships; organizations
 * and projects it does not name stay with what they own, for no file that lost a line may cost data.
 */
export const applySeed = (db: Db, seed: Seed, now: () => number): Promise<void> =>
  db.transaction().execute(async (transaction) => {
    await transaction.updateTable('users').set({ key_digest: null }).execute()
    await transaction.deleteFrom('memberships').execute()
    await addSeed(transaction, seed, now)
  })

/** Lets in who `seed` names beside those who are there. */
export async function addSeed(transaction: Transaction<Tables>, seed: Seed, now: () => number): Promise<void> {
  for (const user of seed.users) {
    const key_digest = 'api_key' in user ? digestOf(user.api_key) : user.api_key_sha256
    await transaction
      .insertInto('users')
      .values({ id: randomUUID(), name: user.name, key_digest })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ key_digest }))
      .execute()
  }
  for (const organization of seed.organizations) await addOrganization(transaction, organization, new Date(now()))
}

async function addOrganization(
  transaction: Transaction<Tables>,
  { name, projects, members }: Seed['organizations'][number],
  create_time: Date,
): Promise<void> {
  const { id } = await transaction
    .insertInto('organizations')
    .values({ id: randomUUID(), name, create_time })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ name })) // so that the row is returned
    .returning('id')
    .executeTakeFirstOrThrow()
  for (const project of projects)
    await transaction
      .insertInto('projects')
      .values({ id: randomUUID(), organization_id: id, name: project, create_time })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  if (members.length === 0) return
  await transaction
    .insertInto('memberships')
    .columns(['user_id', 'organization_id'])
    .expression((from) =>
      from
        .selectFrom('users')
        .select(({ val }) => ['id', val(id).as('organization_id')])
        .where('name', 'in', members),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}
