import { z } from 'zod'

const TIMEOUT_MS = 2000
/** A token is asked for anew this long before it expires. */
const EARLY_MS = 60_000

const tokenSchema = z.object({ jwt: z.string().min(1).max(1000) })
const claimsSchema = z.object({ exp: z.number() })

/**
 * Gives the identity token of this instance, which its metadata service at `uri` hands out (`GET /v1/token`); kept until
 * shortly before it expires. Rejects where there is no such service. `now` gives epoch milliseconds.
 */
export function createIdentityToken(uri: string, now: () => number): (signal: AbortSignal) => Promise<string> {
  let kept: { readonly jwt: string; readonly until: number } | undefined
  return async (signal) => {
    if (kept && now() < kept.until) return kept.jwt
    const url = new URL('/v1/token', uri)
    const either = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)])
    const response = await fetch(url, { headers: { metadata: 'true' }, redirect: 'error', signal: either })
    if (!response.ok) throw new Error(`the metadata service answered ${response.status}`)
    const { jwt } = tokenSchema.parse(await response.json())
    kept = { jwt, until: expiryOf(jwt) - EARLY_MS }
    return jwt
  }
}

/** Epoch milliseconds; 0 for what cannot be read, so that it is asked for each time. */
function expiryOf(jwt: string): number {
  try {
    const claims: unknown = JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString('utf8'))
    const parsed = claimsSchema.safeParse(claims)
    return parsed.success ? parsed.data.exp * 1000 : 0
  } catch {
    return 0 // it is the store's business whether it takes such a token
  }
}
