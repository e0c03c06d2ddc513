import { randomBytes } from 'node:crypto'
import type { Db } from '../base/database.ts'

/** Of a secret, before it is written in base64 (platform reference, section 24.1). */
const BYTES = 32

/** The secret that signs an organization's webhooks, in base64; the first to ask makes it. */
export async function webhookSecretOf(db: Db, organizationId: string): Promise<string> {
  const read = () =>
    db.selectFrom('organizations').select('webhook_secret').where('id', '=', organizationId).executeTakeFirstOrThrow()
  const { webhook_secret: known } = await read()
  if (known !== null) return known
  await db
    .updateTable('organizations')
    .set({ webhook_secret: newSecret() })
    .where('id', '=', organizationId)
    .where('webhook_secret', 'is', null)
    .execute()
  const { webhook_secret: made } = await read() // another process may have been faster
  return made!
}

/** Gives an organization a new secret: the old one stops signing at once, also for calls that are tried again. */
export async function replaceWebhookSecret(db: Db, organizationId: string): Promise<string> {
  const secret = newSecret()
  await db.updateTable('organizations').set({ webhook_secret: secret }).where('id', '=', organizationId).execute()
  return secret
}

const newSecret = () => randomBytes(BYTES).toString('base64')
