const DAY_MS = 86_400_000

/** What an operator may set (section 27). */
export interface StorageSettings {
  /** Bytes of one request body. */
  readonly requestBytes: number
  /** Milliseconds that a file stays after its last upload. */
  readonly retentionMs: number
  /** Milliseconds after which a multipart upload that nobody completed is forgotten. */
  readonly uploadMs: number
  /** Seconds that a signed URL works: bounds, and how long when nobody says. */
  readonly signature: { readonly least: number; readonly most: number; readonly usual: number }
}

/** The settings of the contract. */
export const storageDefaults: StorageSettings = {
  requestBytes: 100 * 2 ** 20,
  retentionMs: 30 * DAY_MS,
  uploadMs: 7 * DAY_MS,
  signature: { least: 60, most: 2_592_000, usual: 2_592_000 },
}
