import type { OpenSession } from './session.ts'

/** Changed networks of one kind that stay open when nobody uses them. */
const KEPT_VARIANTS = 2

/** What is to be open. */
export interface Wanted {
  readonly key: string
  readonly bytes: number
  /** A name for all sessions that are the same network changed in different ways: few of them are kept. */
  readonly variantOf?: string | undefined
}

interface Resident {
  readonly variantOf: string | undefined
  readonly opening: Promise<OpenSession>
  readonly bytes: number
  /** Runs in progress; a session in use is never released. */
  users: number
}

/** Keeps open sessions within a budget of weight bytes. */
export interface Residency {
  /** Opens what is wanted if it is not open, lends it to `work`, and may release others that nobody uses to make room. */
  use<T>(wanted: Wanted, open: () => Promise<OpenSession>, work: (session: OpenSession) => Promise<T>): Promise<T>
  /** Releases everything that nobody uses. */
  releaseIdle(): Promise<void>
}

/** `maxBytes` 0 keeps everything. The session in use stays even if it alone is over the budget. */
export function createResidency(maxBytes: number): Residency {
  /** In order of last use, oldest first. */
  const residents = new Map<string, Resident>()

  const makeRoom = async ({ bytes, variantOf }: Wanted): Promise<void> => {
    let total = bytes
    let variants = 1
    for (const resident of residents.values()) {
      total += resident.bytes
      variants += Number(variantOf !== undefined && resident.variantOf === variantOf)
    }
    for (const [key, resident] of residents) {
      const tooMany = variants > KEPT_VARIANTS && resident.variantOf === variantOf
      const tooMuch = maxBytes > 0 && total > maxBytes
      if (resident.users > 0 || !(tooMany || tooMuch)) continue
      residents.delete(key)
      total -= resident.bytes
      variants -= Number(tooMany)
      await (await resident.opening).release()
    }
  }

  return {
    async use(wanted, open, work) {
      const { key, bytes, variantOf } = wanted
      let resident = residents.get(key)
      if (!resident) {
        const opening = makeRoom(wanted).then(open)
        resident = { variantOf, opening, bytes, users: 0 }
        opening.catch(() => residents.delete(key)) // a failure is not kept
      }
      residents.delete(key)
      residents.set(key, resident)
      resident.users += 1
      try {
        return await work(await resident.opening)
      } finally {
        resident.users -= 1
      }
    },
    async releaseIdle() {
      const idle = [...residents].filter(([, { users }]) => users === 0)
      for (const [key] of idle) residents.delete(key)
      for (const [, { opening }] of idle) await (await opening).release()
    },
  }
}
