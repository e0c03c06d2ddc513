import { createByteLru } from './byte-lru.ts'

/** The value of `key`: kept from before, being made at this moment, or made now. `bytes` may be an estimate. */
export type Keep<V> = (key: string, bytes: number, make: () => Promise<V>) => Promise<V>

/** Keeps what is made within a budget of bytes; the one unused for longest goes first. A failure is not kept. */
export function createKeep<V>(maxBytes: number): Keep<V> {
  const kept = createByteLru<V>(maxBytes)
  const making = new Map<string, Promise<V>>()
  return async (key, bytes, make) => {
    const known = kept.get(key)
    if (known !== undefined) return known
    const pending = making.get(key)
    if (pending) return pending
    const made = make()
    making.set(key, made)
    try {
      const value = await made
      kept.set(key, value, bytes)
      return value
    } finally {
      making.delete(key)
    }
  }
}
