import { dropBlobs, isBlobName } from './blob-name.ts'
import type { StorageDeps } from './files.ts'

/** Longer than anything takes from a blob's last byte to its record. */
const ORPHAN_MS = 3_600_000
/** Longer than anybody sends one body, or joins one file. */
const INTERRUPTED_MS = 86_400_000

/**
 * Makes the function that removes what has had its time: files, tokens, multipart uploads that nobody completed, blobs
 * that no record names, and what interrupted writes have left. Several processes may run it at once.
 */
export function createSweep({ db, blobs, now, log, settings }: StorageDeps): () => Promise<void> {
  const ago = (ms: number) => new Date(now() - ms)

  const removeExpired = async () => {
    await db.deleteFrom('file_tokens').where('expires', '<=', ago(0)).execute()
    const files = await db
      .deleteFrom('files')
      .where('uploaded', '<=', ago(settings.retentionMs))
      .returning('blob')
      .execute()
    const parts = await db.transaction().execute(async (transaction) => {
      const uploads = await transaction
        .selectFrom('uploads')
        .select('id')
        .where('create_time', '<=', ago(settings.uploadMs))
        .forUpdate()
        .execute()
      if (uploads.length === 0) return []
      const ids = uploads.map(({ id }) => id)
      const gone = await transaction
        .deleteFrom('upload_parts')
        .where('upload_id', 'in', ids)
        .returning('blob')
        .execute()
      await transaction.deleteFrom('uploads').where('id', 'in', ids).execute()
      return gone
    })
    await dropBlobs(
      blobs,
      log,
      [...files, ...parts].map(({ blob }) => blob),
    )
    return files.length
  }

  const removeOrphans = async () => {
    let removed = 0
    for await (const names of blobs.list(ago(ORPHAN_MS))) {
      const ours = names.filter(isBlobName)
      if (ours.length === 0) continue
      const named = await db
        .selectFrom('files')
        .select('blob')
        .where('blob', 'in', ours)
        .union(db.selectFrom('upload_parts').select('blob').where('blob', 'in', ours))
        .execute()
      const kept = new Set(named.map(({ blob }) => blob))
      const orphans = ours.filter((name) => !kept.has(name))
      await dropBlobs(blobs, log, orphans)
      removed += orphans.length
    }
    return removed
  }

  return async () => {
    const files = await removeExpired()
    const orphans = await removeOrphans()
    await blobs.tidy(ago(INTERRUPTED_MS))
    if (files + orphans > 0) log.info({ files, orphans }, 'the storage was swept')
  }
}
