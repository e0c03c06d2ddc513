import type { Readable } from 'node:stream'
import type { Transaction } from 'kysely'
import type { Log } from '../../common/log.ts'
import type { Db } from '../base/database.ts'
import { notFound, PlatformError } from '../base/errors.ts'
import type { Tables } from '../base/tables.ts'
import { dropBlobs, newBlobName } from './blob-name.ts'
import { BlobMissing, type BlobStore, type ByteRange, type Received } from './blob-store.ts'
import type { Place } from './place.ts'
import type { StorageSettings } from './settings.ts'

/** Entries of a list. */
const MOST_LISTED = 1000
/** How often a file may be replaced between the look at its record and the opening of its bytes. */
const OPENINGS = 3

/** A file as it is recorded. */
export interface StoredFile {
  readonly path: string
  readonly mimeType: string
  /** Bytes. */
  readonly size: number
  readonly etag: string
  readonly uploaded: Date
  readonly blob: string
}

/** What records and blobs are kept with. */
export interface StorageDeps {
  readonly db: Db
  readonly blobs: BlobStore
  /** Epoch milliseconds. */
  readonly now: () => number
  readonly log: Log
  readonly settings: StorageSettings
}

/** The files of all organizations, each at its place. */
export interface Files {
  /** Stores bytes that have come as the file at `place`, in one step for everybody who looks. */
  store(place: Place, mimeType: string, received: Received): Promise<void>
  /** Throws 404 when there is none, or none any more. */
  find(place: Place): Promise<StoredFile>
  /** A file with the bytes that `choose` picks, all if none. Throws 404. */
  open(
    place: Place,
    choose: (file: StoredFile) => ByteRange | undefined,
  ): Promise<{ readonly file: StoredFile; readonly range: ByteRange | undefined; readonly bytes: Readable }>
  /** Does nothing when there is none. */
  remove(place: Place): Promise<void>
  /** The first thousand by path, in the order of their bytes. */
  list(organizationId: string): Promise<readonly StoredFile[]>
}

const columns = ['path', 'mime_type as mimeType', 'size', 'etag', 'uploaded', 'blob'] as const

/**
 * Bytes come first, their record second, the bytes of what was replaced go last: a crash in between leaves bytes without a
 * record, never a record without its bytes.
 */
export function createFiles({ db, blobs, now, log, settings }: StorageDeps): Files {
  const kept = () =>
    db
      .selectFrom('files')
      .select(columns)
      .where('uploaded', '>', new Date(now() - settings.retentionMs))

  const find = async ({ organization, path }: Place): Promise<StoredFile> => {
    const file = await kept().where('organization_id', '=', organization.id).where('path', '=', path).executeTakeFirst()
    if (file) return file
    throw notFound('file')
  }

  return {
    async store(place, mimeType, received) {
      const blob = newBlobName(place.organization.id)
      await received.keep(blob, mimeType)
      const { size, etag } = received
      const file = { path: place.path, mimeType, size, etag, uploaded: new Date(now()), blob }
      // When this fails it may still have happened, so the new blob must stay until the sweep knows better.
      await dropBlobs(blobs, log, await recordFile(db, place.organization.id, file))
    },
    find,
    async open(place, choose) {
      let missing: unknown
      for (let opening = 0; opening < OPENINGS; opening++) {
        const file = await find(place)
        const range = choose(file)
        try {
          return { file, range, bytes: await blobs.open(file.blob, range) }
        } catch (error) {
          if (!(error instanceof BlobMissing)) throw error
          missing = error // replaced this moment: its record is another one now
        }
      }
      throw new PlatformError(500, 'The file could not be read.', { cause: missing })
    },
    async remove({ organization, path }) {
      const gone = await db
        .deleteFrom('files')
        .where('organization_id', '=', organization.id)
        .where('path', '=', path)
        .returning('blob')
        .execute()
      await dropBlobs(
        blobs,
        log,
        gone.map(({ blob }) => blob),
      )
    },
    list: (organizationId) =>
      kept()
        .where('organization_id', '=', organizationId)
        .orderBy('path', (order) => order.collate('C'))
        .limit(MOST_LISTED)
        .execute(),
  }
}

/**
 * Records a file in place of the one that was there; resolves with the blobs that nothing names any more. Of two at
 * once one may go untold: the sweep finds its blob.
 */
export async function recordFile(
  db: Db | Transaction<Tables>,
  organizationId: string,
  { path, mimeType, size, etag, uploaded, blob }: StoredFile,
): Promise<readonly string[]> {
  const contents = { mime_type: mimeType, size, etag, blob, uploaded }
  const { replaced } = await db
    .with('old', (query) =>
      query.selectFrom('files').select('blob').where('organization_id', '=', organizationId).where('path', '=', path),
    )
    .insertInto('files')
    .values({ organization_id: organizationId, path, ...contents })
    .onConflict((conflict) => conflict.columns(['organization_id', 'path']).doUpdateSet(contents))
    .returning((query) => query.selectFrom('old').select('old.blob').as('replaced'))
    .executeTakeFirstOrThrow()
  return replaced === null ? [] : [replaced]
}
