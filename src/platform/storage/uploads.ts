import { createHash, randomUUID } from 'node:crypto'
import type { Transaction } from 'kysely'
import { DEFAULT_MIME_TYPE, LEAST_PART_BYTES, type NamedPart } from '../../contracts/platform/storage.ts'
import { PlatformError } from '../base/errors.ts'
import type { Tables } from '../base/tables.ts'
import { dropBlobs, newBlobName } from './blob-name.ts'
import { BlobMissing, type BlobPart, type Received } from './blob-store.ts'
import { recordFile, type StorageDeps } from './files.ts'
import type { Place } from './place.ts'

/** Files that come in parts (section 22.2). Whatever names an upload throws 400 when there is none of that id for the place. */
export interface Uploads {
  /** Resolves with the id of a new upload. */
  create(place: Place): Promise<string>
  /** Throws 400 for one that is unknown, was ended or has expired. */
  check(place: Place, id: string): Promise<void>
  /** Stores a part, in place of an earlier one of the same number. */
  put(place: Place, id: string, partNumber: number, received: Received): Promise<void>
  /** Makes the file of these parts and ends the upload; resolves with the file's etag. */
  complete(place: Place, id: string, parts: readonly NamedPart[]): Promise<string>
  /** Ends the upload and discards its parts. */
  abort(place: Place, id: string): Promise<void>
}

interface StoredPart extends BlobPart {
  readonly etag: string
}

const unknownUpload = () => new PlatformError(400, 'uploadId: is not the id of an unfinished upload of this file')
const badParts = (reason: string, cause?: unknown) => new PlatformError(400, `parts: ${reason}`, { cause })

/** Keeps parts as blobs of their own until they are joined to the file's. */
export function createUploads({ db, blobs, now, log, settings }: StorageDeps): Uploads {
  const open = (on: Pick<typeof db, 'selectFrom'>, { organization, path }: Place, id: string) =>
    on
      .selectFrom('uploads')
      .select('id')
      .where('id', '=', idOf(id))
      .where('organization_id', '=', organization.id)
      .where('path', '=', path)
      .where('create_time', '>', new Date(now() - settings.uploadMs))

  const check = async (place: Place, id: string): Promise<void> => {
    if (!(await open(db, place, id).executeTakeFirst())) throw unknownUpload()
  }

  /** Ends an upload, of which others may be putting parts; resolves with the blobs of its parts. */
  const end = async (transaction: Transaction<Tables>, place: Place, id: string): Promise<readonly string[]> => {
    if (!(await open(transaction, place, id).forUpdate().executeTakeFirst())) throw unknownUpload()
    const gone = await transaction.deleteFrom('upload_parts').where('upload_id', '=', id).returning('blob').execute()
    await transaction.deleteFrom('uploads').where('id', '=', id).execute()
    return gone.map(({ blob }) => blob)
  }

  const partsOf = async (id: string): Promise<ReadonlyMap<number, StoredPart>> => {
    const rows = await db
      .selectFrom('upload_parts')
      .select(['part_number', 'blob as name', 'size', 'etag'])
      .where('upload_id', '=', id)
      .execute()
    return new Map(rows.map(({ part_number, ...part }) => [part_number, part]))
  }

  return {
    async create({ organization, path }) {
      const id = randomUUID()
      const row = { id, organization_id: organization.id, path, create_time: new Date(now()) }
      await db.insertInto('uploads').values(row).execute()
      return id
    },
    check,
    async put(place, id, partNumber, received) {
      const blob = newBlobName(place.organization.id)
      await received.keep(blob, DEFAULT_MIME_TYPE)
      const row = { upload_id: id, part_number: partNumber, etag: received.etag, size: received.size, blob }
      const replaced = await db.transaction().execute(async (transaction) => {
        // While it is locked nobody ends it.
        if (!(await open(transaction, place, id).forUpdate().executeTakeFirst())) return undefined
        const part = { upload_id: id, part_number: partNumber }
        const gone = await transaction
          .deleteFrom('upload_parts')
          .where((is) => is.and(part))
          .returning('blob')
          .execute()
        await transaction.insertInto('upload_parts').values(row).execute()
        return gone.map(({ blob: old }) => old)
      })
      await dropBlobs(blobs, log, replaced ?? [blob])
      if (!replaced) throw unknownUpload()
    },
    async complete(place, id, named) {
      await check(place, id)
      const parts = chosen(named, await partsOf(id))
      const blob = newBlobName(place.organization.id)
      await blobs.join(blob, parts, DEFAULT_MIME_TYPE).catch((error: unknown) => {
        throw error instanceof BlobMissing ? badParts('were replaced while they were joined', error) : error
      })
      const etag = joinedEtag(parts)
      const size = parts.reduce((sum, part) => sum + part.size, 0)
      const file = { path: place.path, mimeType: DEFAULT_MIME_TYPE, size, etag, uploaded: new Date(now()), blob }
      const gone = await db.transaction().execute(async (transaction) => {
        const ended = await end(transaction, place, id)
        return [...ended, ...(await recordFile(transaction, place.organization.id, file))]
      })
      await dropBlobs(blobs, log, gone)
      return etag
    },
    async abort(place, id) {
      await dropBlobs(blobs, log, await db.transaction().execute((transaction) => end(transaction, place, id)))
    },
  }
}

/** The id as the database takes it. Throws 400 for what no upload is called. */
function idOf(id: string): string {
  if (/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(id)) return id
  throw unknownUpload()
}

/** The parts that a file is to be made of. Throws 400 for a list that makes none. */
function chosen(named: readonly NamedPart[], stored: ReadonlyMap<number, StoredPart>): readonly StoredPart[] {
  return named.map(({ partNumber, etag }, i) => {
    if (partNumber <= (named[i - 1]?.partNumber ?? 0)) throw badParts('numbers must rise')
    const part = stored.get(partNumber)
    if (part?.etag !== etag) throw badParts(`there is no part ${partNumber} of this etag`)
    if (part.size < LEAST_PART_BYTES && i < named.length - 1)
      throw badParts(`part ${partNumber} has less than ${LEAST_PART_BYTES} bytes and is not the last`)
    return part
  })
}

/** MD5 of the parts' MD5s and their number, as object stores write it. */
function joinedEtag(parts: readonly StoredPart[]): string {
  const hash = createHash('md5')
  for (const { etag } of parts) hash.update(etag, 'hex')
  return `${hash.digest('hex')}-${parts.length}`
}
