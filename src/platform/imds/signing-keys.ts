import { type CryptoKey, exportJWK, generateKeyPair, importJWK } from 'jose'
import { sql, type Transaction } from 'kysely'
import { z } from 'zod'
import type { Db } from '../base/database.ts'
import type { Tables } from '../base/tables.ts'
import { type KeySchedule, missingKeys } from './key-schedule.ts'

const ALGORITHM = 'ES256'

const privateJwkSchema = z.object({
  kty: z.literal('EC'),
  crv: z.literal('P-256'),
  x: z.string(),
  y: z.string(),
  d: z.string(),
})

/** What the key set shows of a key. */
export type PublicJwk = Omit<z.infer<typeof privateJwkSchema>, 'd'> & { readonly kid: string; readonly use: 'sig' }

/** A key of the platform; `created` is epoch milliseconds. */
export interface SigningKey {
  readonly kid: string
  readonly created: number
  readonly privateKey: CryptoKey
  readonly publicKey: CryptoKey
  readonly publicJwk: PublicJwk
}

/** The keys that all processes of the platform share. */
export interface SigningKeys {
  /** All that verify tokens now, the older first. */
  published(): Promise<readonly SigningKey[]>
  /** The one that signs tokens now. */
  signing(): Promise<SigningKey>
}

export interface SigningKeysDeps {
  readonly db: Db
  /** Epoch milliseconds. */
  readonly now: () => number
  readonly schedule: KeySchedule
}

/** Keeps the keys in the database; whoever first finds that one is due replaces it. Nothing runs in between. */
export function createSigningKeys({ db, now, schedule }: SigningKeysDeps): SigningKeys {
  const { lifetimeMs, handOverMs } = schedule
  let kept: readonly SigningKey[] = []
  let loading: Promise<void> | undefined

  const load = async (): Promise<void> => {
    const rows = await db.transaction().execute((transaction) => rotate(transaction, now(), schedule))
    kept = await Promise.all(rows.map(toKey))
  }

  const published = async (): Promise<readonly SigningKey[]> => {
    const [older] = kept
    if (older && now() < older.created + lifetimeMs) return kept
    loading ??= load().finally(() => {
      loading = undefined
    })
    await loading
    return kept
  }

  return {
    published,
    async signing() {
      const [older, newer] = await published()
      if (!(older && newer)) throw new Error('there are always two signing keys')
      return now() < older.created + lifetimeMs - handOverMs ? older : newer
    },
  }
}

interface KeyRow {
  readonly kid: string
  readonly private_jwk: unknown
  readonly create_time: Date
}

/** Drops what is due and adds what is missing. Of several processes one does it, the others wait for what it made. */
async function rotate(transaction: Transaction<Tables>, now: number, schedule: KeySchedule): Promise<KeyRow[]> {
  await sql`lock table signing_keys in exclusive mode`.execute(transaction)
  const gone = new Date(now - schedule.lifetimeMs)
  await transaction.deleteFrom('signing_keys').where('create_time', '<=', gone).execute()
  const all = () => transaction.selectFrom('signing_keys').selectAll().orderBy('create_time').execute()
  const present = await all()
  const missing = missingKeys(
    present.map(({ create_time }) => create_time.getTime()),
    now,
    schedule,
  )
  for (const created of missing)
    await transaction
      .insertInto('signing_keys')
      .values(await newKey(created))
      .execute()
  return missing.length > 0 ? all() : present
}

async function newKey(created: number) {
  const { privateKey } = await generateKeyPair(ALGORITHM, { extractable: true })
  const create_time = new Date(created).toISOString()
  return { kid: `workload-${create_time}`, private_jwk: JSON.stringify(await exportJWK(privateKey)), create_time }
}

async function toKey({ kid, private_jwk, create_time }: KeyRow): Promise<SigningKey> {
  const { d, ...point } = privateJwkSchema.parse(private_jwk)
  const [privateKey, publicKey] = await Promise.all([
    importJWK({ ...point, d }, ALGORITHM),
    importJWK(point, ALGORITHM),
  ])
  return { kid, created: create_time.getTime(), privateKey, publicKey, publicJwk: { ...point, kid, use: 'sig' } }
}
