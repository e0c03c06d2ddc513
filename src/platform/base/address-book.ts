import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** What a program on this machine needs to use the platform. Addresses of surfaces that are not served are left out. */
export interface AddressBook {
  readonly management: string
  readonly storage?: string | undefined
  readonly imds?: string | undefined
  readonly gateway?: string | undefined
  readonly jwks?: string | undefined
  readonly organization: string
  readonly project: string | undefined
  readonly api_key: string | undefined
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
