import { z } from 'zod'

/** One coordinate of a point of P-256, in base64url. */
const coordinate = z.string().regex(/^[\w-]{43}$/)

/** What verifies identity tokens, for everybody: two keys, or more while they change (platform reference, section 21). */
export const keySetSchema = z.strictObject({
  keys: z
    .array(
      z.strictObject({
        kty: z.literal('EC'),
        crv: z.literal('P-256'),
        x: coordinate,
        y: coordinate,
        kid: z.string().regex(/^workload-\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        use: z.literal('sig'),
      }),
    )
    .min(2),
})
