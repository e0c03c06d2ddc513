import { isDeepStrictEqual } from 'node:util'
import type { IdentityTokens } from './identity-tokens.ts'
import type { InstanceIdentity } from './instance.ts'

export interface TokenCacheDeps {
  readonly issue: IdentityTokens['issue']
  /** Well below the life of a token, for whoever gets it still has to use it. */
  readonly cacheSeconds: number
  /** Epoch milliseconds. */
  readonly now: () => number
}

/** Gives the token of one instance: the same for a while, unless what it says has changed. */
export function createTokenCache({ issue, cacheSeconds, now }: TokenCacheDeps): IdentityTokens['issue'] {
  let kept: { readonly identity: InstanceIdentity; readonly jwt: string; readonly until: number } | undefined
  return async (identity) => {
    if (kept && now() < kept.until && isDeepStrictEqual(kept.identity, identity)) return kept.jwt
    const until = now() + cacheSeconds * 1000
    const jwt = await issue(identity)
    kept = { identity, jwt, until }
    return jwt
  }
}
