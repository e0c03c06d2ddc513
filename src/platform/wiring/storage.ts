import { join } from 'node:path'
import type { Log } from '../../common/log.ts'
import type { Db } from '../base/database.ts'
import { messageOf } from '../base/errors.ts'
import { type Listening, listen } from '../base/listen.ts'
import type { Members } from '../base/members.ts'
import { problemOf } from '../base/problem.ts'
import type { Config } from '../config.ts'
import type { VerifyToken } from '../storage/access.ts'
import { createStorageApp } from '../storage/app.ts'
import { createDiskBlobs } from '../storage/disk-blobs.ts'
import { createFiles } from '../storage/files.ts'
import { keepText } from '../storage/keep-text.ts'
import { storageDefaults } from '../storage/settings.ts'
import { createSignatures } from '../storage/signatures.ts'
import { createSweep } from '../storage/sweep.ts'

const SWEEP_MS = 600_000

/** The storage API on its own port. */
export interface Storage {
  readonly url: string
  /**
   * Keeps what came of a job that runs, JSON, as a file of its organization; resolves with a signed URL. Rejects when the
   * job was cancelled meanwhile: its output is nobody's.
   */
  storeOutput(jobId: string, output: string): Promise<string>
  close(graceMs: number): Promise<void>
}

export interface StorageServices {
  readonly db: Db
  readonly members: Members
  /** Epoch milliseconds. */
  readonly now: () => number
  readonly log: Log
  readonly verifyToken: VerifyToken
}

export async function openStorage(
  { host, storage, dataDir }: Config,
  { db, members, now, log, verifyToken }: StorageServices,
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
  listening.refuseAs((error, id) => problemOf(error, url, id))
  listening.answer(createStorageApp({ db, members, blobs, now, log, settings, publicUrl: url, verifyToken }))
  const sweep = createSweep({ db, blobs, now, log, settings })
  const sweeping = setInterval(() => {
    sweep().catch((error: unknown) => log.warn({ reason: messageOf(error) }, 'old files were not removed'))
  }, SWEEP_MS)
  const kept = {
    ...{ signatures: createSignatures(db, now), receive: blobs.receive, publicUrl: url, settings },
    files: createFiles({ db, blobs, now, log, settings }),
  }
  return {
    url,
    async storeOutput(jobId, output) {
      const organization = await db
        .selectFrom('jobs')
        .innerJoin('organizations', 'organizations.id', 'jobs.organization_id')
        .select(['organizations.id', 'organizations.name'])
        .where('jobs.id', '=', jobId)
        .where('jobs.status', '=', 'running')
        .executeTakeFirstOrThrow(() => new Error('the job does not run any more'))
      return keepText(kept, { organization, path: `outputs/${jobId}.json` }, 'application/json', output)
    },
    async close(graceMs) {
      clearInterval(sweeping)
      await listening.close(graceMs)
    },
  }
}
