import { createHash, randomBytes } from 'node:crypto'

/** What is stored of a key, and compared: its SHA-256 in hexadecimal. */
export const digestOf = (key: string): string => createHash('sha256').update(key).digest('hex')

/** A key that nobody can guess. */
export const newKey = (): string => randomBytes(32).toString('base64url')
