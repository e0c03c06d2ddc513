import { createCipheriv, createDecipheriv, createHash, randomBytes, randomUUID } from 'node:crypto'
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { WorkloadError } from '../base/errors.ts'
import { once } from '../base/once.ts'

/** Keeps what is secret unreadable where prompts are stored. */
export interface Seal {
  close(text: string): Promise<string>
  /** Whether every server that may take up a prompt can open what this one has closed. */
  readonly opensEverywhere: boolean
  /** Undefined for what another key has closed. */
  open(sealed: string): Promise<string | undefined>
}

const IV_BYTES = 12
const TAG_BYTES = 16
const KEY_BYTES = 32

/**
 * AES-256-GCM under a key made of `secret`, which servers that share a queue must share too; without one under a key of
 * this machine's own, kept in `keyFile`. `isAlone` says whether no other server takes up prompts of this one.
 */
export function createSeal(secret: string | undefined, keyFile: string, isAlone: boolean): Seal {
  const key = once(async () => (secret === undefined ? ownKey(keyFile) : createHash('sha256').update(secret).digest()))
  return {
    opensEverywhere: isAlone || secret !== undefined,
    async close(text) {
      const iv = randomBytes(IV_BYTES)
      const cipher = createCipheriv('aes-256-gcm', await key(), iv)
      const closed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return Buffer.concat([iv, cipher.getAuthTag(), closed]).toString('base64')
    },
    async open(sealed) {
      const bytes = Buffer.from(sealed, 'base64')
      const decipher = createDecipheriv('aes-256-gcm', await key(), bytes.subarray(0, IV_BYTES))
      decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
      try {
        const opened = decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES))
        return Buffer.concat([opened, decipher.final()]).toString('utf8')
      } catch {
        return undefined // the tag does not fit: another key
      }
    },
  }
}

/** The key in `file`, made by whoever comes first. Throws `not-ready` when it cannot be kept. */
async function ownKey(file: string): Promise<Buffer> {
  const draft = `${file}.${randomUUID()}`
  try {
    await mkdir(dirname(file), { recursive: true })
    await writeFile(draft, randomBytes(KEY_BYTES), { mode: 0o600 })
    // Under its name it is whole from the first moment, and never replaced.
    await link(draft, file).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    })
    return await readFile(file)
  } catch (cause) {
    throw new WorkloadError('not-ready', 'the key for what is secret in prompts cannot be kept', {
      retryAfter: 10,
      cause,
    })
  } finally {
    await rm(draft, { force: true }).catch(() => undefined) // what made it fail is told above
  }
}
