import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** What a program on this machine needs to use the platform: where its surfaces are, and a way in. */
export interface AddressBook {
  readonly management: string
  readonly storage: string
  /** The metadata service for callers that are known by their address. */
  readonly imds: string
  readonly gateway: string
  readonly jwks: string
  readonly organization: string
  /** Null where the organization has none. */
  readonly project: string | null
  /** Null where only its digest is known. */
  readonly api_key: string | null
}

const fileIn = (dataDir: string): string => join(dataDir, 'platform.json')

/** Writes `platform.json`, whole or not at all and for its owner alone; its being there says that the platform is ready. */
export async function writeAddressBook(dataDir: string, book: AddressBook): Promise<void> {
  const draft = `${fileIn(dataDir)}.new`
  await writeFile(draft, `${JSON.stringify(book, undefined, 2)}\n`, { mode: 0o600 })
  await rename(draft, fileIn(dataDir))
}

/** Takes `platform.json` away. */
export const removeAddressBook = (dataDir: string): Promise<void> => rm(fileIn(dataDir), { force: true })
