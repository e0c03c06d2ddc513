import { createHmac } from 'node:crypto'

export interface Signed {
  readonly id: string
  /** Unix seconds. */
  readonly timestamp: number
  readonly body: string
}

/** The value of `webhook-signature` (Standard Webhooks; platform reference, section 24.1). `secret` is in base64. */
export function signatureOf(secret: string, { id, timestamp, body }: Signed): string {
  const hash = createHmac('sha256', Buffer.from(secret, 'base64')).update(`${id}.${timestamp}.${body}`)
  return `v1,${hash.digest('base64')}`
}
