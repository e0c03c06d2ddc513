import { Router } from 'express'
import type { Db } from '../base/database.ts'
import { sendJson } from '../base/json.ts'
import { replaceWebhookSecret, webhookSecretOf } from '../webhooks/secret.ts'
import { organizationOf } from './organization.ts'

/** `…/webhook-secret-key`: reads and replaces what webhooks of the organization are signed with (section 13). */
export function createWebhookSecretRoutes(db: Db): Router {
  const router = Router()
  router
    .route('/webhook-secret-key')
    .get(async (_request, response) =>
      sendJson(response, { secret_key: await webhookSecretOf(db, organizationOf(response).id) }),
    )
    .post(async (_request, response) =>
      sendJson(response, { secret_key: await replaceWebhookSecret(db, organizationOf(response).id) }),
    )
  return router
}
