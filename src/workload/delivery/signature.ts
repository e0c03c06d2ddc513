import { createHmac } from 'node:crypto'

/** Keys to sign with: more than one while they are being changed. */
export type SigningKeys = readonly Buffer[]

/**
 * The keys in `WEBHOOK_SECRET`: base64, with or without `whsec_` before it, separated by white space. Throws when one is
 * not base64, for a receiver could then verify nothing.
 */
export function signingKeys(secret: string | undefined): SigningKeys {
  const texts = (secret ?? '').split(/\s+/).filter(Boolean)
  return texts.map((text, i) => {
    const base64 = text.replace(/^whsec_/, '')
    if (/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/.test(base64) && base64.length > 1)
      return Buffer.from(base64, 'base64')
    const which = texts.length > 1 ? `secret ${i + 1} of ${texts.length}` : 'the secret'
    throw new Error(`WEBHOOK_SECRET: ${which} is not base64, with or without "whsec_" before it`)
  })
}

/** The value of `webhook-signature` for a body in pieces, one signature a key (Standard Webhooks, symmetric scheme). */
export async function signatureOf(
  keys: SigningKeys,
  { id, seconds, pieces }: { readonly id: string; readonly seconds: number; readonly pieces: AsyncIterable<string> },
  signal: AbortSignal,
): Promise<string> {
  const hashes = keys.map((key) => createHmac('sha256', key).update(`${id}.${seconds}.`))
  for await (const piece of pieces) {
    signal.throwIfAborted()
    for (const hash of hashes) hash.update(piece)
  }
  return hashes.map((hash) => `v1,${hash.digest('base64')}`).join(' ')
}
