import { LRUCache } from 'lru-cache'

/** Values by key within a budget of bytes; the one unused for longest goes first. */
export interface ByteLru<Value> {
  /** The value, which counts as used now. */
  get(key: string): Value | undefined
  has(key: string): boolean
  /** Keeps `value`, unless it alone is larger than the budget. `bytes` may be an estimate. */
  set(key: string, value: Value, bytes: number): void
  clear(): void
}

/** An empty cache; with a budget of 0 it stays empty. */
export function createByteLru<Value>(maxBytes: number): ByteLru<Value> {
  if (maxBytes < 1) return { get: () => undefined, has: () => false, set: () => undefined, clear: () => undefined }
  const entries = new LRUCache<string, { readonly value: Value }>({ maxSize: Math.floor(maxBytes) })
  return {
    get: (key) => entries.get(key)?.value,
    has: (key) => entries.has(key),
    set: (key, value, bytes) => void entries.set(key, { value }, { size: Math.max(1, Math.ceil(bytes)) }),
    clear: () => entries.clear(),
  }
}
