import { randomUUID } from 'node:crypto'
import { errors, jwtVerify, SignJWT } from 'jose'
import { z } from 'zod'
import type { InstanceIdentity } from './instance.ts'
import type { SigningKeys } from './signing-keys.ts'

const ALGORITHM = 'ES256'
const TOLERANCE_SECONDS = 30
/** Beyond it a token with the longest names would have more than the 1000 characters that its clients take. */
const LONGEST_ISSUER = 80

const claimsSchema = z.object({
  iss: z.string(),
  sub: z.string(),
  aud: z.string(),
  jti: z.string(),
  iat: z.number(),
  nbf: z.number(),
  exp: z.number(),
  machine_id: z.string(),
  workload_id: z.string(),
  workload_name: z.string(),
  organization_id: z.string(),
  organization_name: z.string(),
})

/** What a token says (platform reference, section 21); times are epoch seconds. */
export type IdentityClaims = z.infer<typeof claimsSchema>

/** The tokens by which an instance shows who it is. */
export interface IdentityTokens {
  issue(identity: InstanceIdentity): Promise<string>
  /** Resolves with `undefined` for a token that is not ours, is not valid yet or no longer; 30 s of clock skew pass. */
  verify(jwt: string): Promise<IdentityClaims | undefined>
}

export interface IdentityTokensDeps {
  readonly keys: SigningKeys
  /** Epoch milliseconds. */
  readonly now: () => number
  /** At most 80 characters. */
  readonly issuer: string
  readonly lifetimeSeconds: number
}

/** Throws a RangeError for an issuer with which a token would be too long. */
export function createIdentityTokens({ keys, now, issuer, lifetimeSeconds }: IdentityTokensDeps): IdentityTokens {
  if (Buffer.byteLength(issuer) > LONGEST_ISSUER)
    throw new RangeError(`the issuer of identity tokens has more than ${LONGEST_ISSUER} characters: ${issuer}`)

  return {
    async issue({ machine_id, workload_id, workload_name, organization_id, organization_name }) {
      const { kid, privateKey } = await keys.signing()
      const at = Math.floor(now() / 1000)
      const claims: IdentityClaims = {
        iss: issuer,
        sub: machine_id,
        aud: organization_id,
        jti: randomUUID(),
        iat: at,
        nbf: at,
        exp: at + lifetimeSeconds,
        machine_id,
        workload_id,
        workload_name,
        organization_id,
        organization_name,
      }
      return new SignJWT(claims).setProtectedHeader({ alg: ALGORITHM, kid, typ: 'JWT' }).sign(privateKey)
    },

    async verify(jwt) {
      const keyOf = async ({ kid }: { readonly kid?: string }) => {
        const key = (await keys.published()).find((one) => one.kid === kid)
        if (!key) throw new errors.JWKSNoMatchingKey()
        return key.publicKey
      }
      try {
        const { payload } = await jwtVerify(jwt, keyOf, {
          algorithms: [ALGORITHM],
          clockTolerance: TOLERANCE_SECONDS,
          currentDate: new Date(now()),
          requiredClaims: ['exp', 'nbf'],
        })
        return claimsSchema.parse(payload)
      } catch (error) {
        if (error instanceof errors.JOSEError) return undefined
        throw error
      }
    },
  }
}
