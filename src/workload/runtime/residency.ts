import type { OpenSession } from './session.ts'

interface Resident {
  readonly opening: Promise<OpenSession>
  readonly bytes: number
  /** Runs in progress; a session in use is never released. */
  users: number
}

/** Keeps open sessions within a budget of weight bytes. */
export interface Residency {
  /** Opens `key` if it is not open, lends it to `work`, and may release others that nobody uses to make room. */
  use<T>(
    key: string,
    bytes: number,
    open: () => Promise<OpenSession>,
    work: (session: OpenSession) => Promise<T>,
  ): Promise<T>
}

/** `maxBytes` 0 keeps everything. The session in use stays even if it alone is over the budget. */
export function createResidency(maxBytes: number): Residency {
  /** In order of last use, oldest first. */
  const residents = new Map<string, Resident>()

  const makeRoom = async (bytes: number): Promise<void> => {
    if (maxBytes === 0) return
    let total = bytes
    for (const resident of residents.values()) total += resident.bytes
    for (const [key, resident] of residents) {
      if (total <= maxBytes) return
      if (resident.users > 0) continue
      residents.delete(key)
      total -= resident.bytes
      await (await resident.opening).release()
    }
  }

  return {
    async use(key, bytes, open, work) {
      let resident = residents.get(key)
      if (!resident) {
        const opening = makeRoom(bytes).then(open)
        resident = { opening, bytes, users: 0 }
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
  }
}
