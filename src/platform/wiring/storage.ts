import { join } from 'node:path'
import type { Log } from '../../common/log.ts'
import type { Db } from '../base/database.ts'
import { messageOf } from '../base/errors.ts'
import { type Listening, listen } from '../base/listen.ts'
import type { Config } from '../config.ts'
import type { VerifyToken } from '../storage/access.ts'
import { createStorageApp } from '../storage/app.ts'
import { createDiskBlobs } from '../storage/disk-blobs.ts'
import { storageDefaults } from '../storage/settings.ts'
import { createSweep } from '../storage/sweep.ts'

const SWEEP_MS = 600_000

/** The storage API on its own port. */
export interface Storage {
  readonly url: string
  close(graceMs: number): Promise<void>
}

export async function openStorage(
  { host, storage, dataDir }: Config,
  { db, now, log, verifyToken }: { db: Db; now: () => number; log: Log; verifyToken: VerifyToken },
  urlAt: (listening: Listening) => string,
): Promise<Storage> {
  const folder = join(dataDir, 'storage')
  const blobs =
    storage.bucket === undefined
      ? createDiskBlobs(folder)
      : (await import('../storage/s3-blobs.ts')).createS3Blobs({ ...storage.s3, bucket: storage.bucket, folder })
  const settings = { ...storageDefaults, ...storage.settings }
  const listening = await listen(host, storage.port)
  const url = urlAt(listening)
  listening.answer(createStorageApp({ db, blobs, now, log, settings, publicUrl: url, verifyToken }))
  const sweep = createSweep({ db, blobs, now, log, settings })
  const sweeping = setInterval(() => {
    sweep().catch((error: unknown) => log.warn({ reason: messageOf(error) }, 'old files were not removed'))
  }, SWEEP_MS)
  return {
    url,
    async close(graceMs) {
      clearInterval(sweeping)
      await listening.close(graceMs)
    },
  }
}
