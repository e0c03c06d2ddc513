import { randomUUID } from 'node:crypto'
import type { Log } from '../../common/log.ts'
import type { BlobStore } from './blob-store.ts'

const UUID = '[\\da-f]{8}(?:-[\\da-f]{4}){3}-[\\da-f]{12}'
const pattern = new RegExp(`^${UUID}/${UUID}$`)

/**
 * A name for the bytes of one upload of an organization. It does not hold the path: a new upload must not touch the bytes
 * of the old one before its record is there, and a path alone may be as long as the key of an object.
 */
export const newBlobName = (organizationId: string): string => `${organizationId}/${randomUUID()}`

/** Whether a name is one of ours: what else lies in a bucket is none of our business. */
export const isBlobName = (name: string): boolean => pattern.test(name)

/** Removes blobs that no record names any more; one that cannot be removed now is an orphan, and found by the sweep. */
export async function dropBlobs(blobs: BlobStore, log: Log, names: readonly string[]): Promise<void> {
  for (const blob of names)
    await blobs.remove(blob).catch((err: unknown) => log.warn({ blob, err }, 'a blob could not be removed yet'))
}
