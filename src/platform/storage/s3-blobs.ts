import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  NoSuchKey,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { BlobMissing, type BlobPart, type BlobStore } from './blob-store.ts'
import { createIncoming } from './incoming.ts'

/** A bucket of an S3-compatible store; what is undefined is left to the SDK's own search. */
export interface S3BlobSettings {
  readonly bucket: string
  readonly region: string | undefined
  readonly endpoint: string | undefined
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined
  /** Where bytes wait on this machine until they have all come: only then is their number known, which a store wants first. */
  readonly folder: string
}

/** Blobs as objects of a bucket, with path-style addresses. */
export function createS3Blobs({ bucket, region, endpoint, credentials, folder }: S3BlobSettings): BlobStore {
  const client = new S3Client({
    ...(region !== undefined && { region }),
    ...(credentials && { credentials }),
    // Stores other than Amazon's often do not understand checksums behind a stream.
    ...(endpoint !== undefined && {
      endpoint,
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
    }),
    forcePathStyle: true,
  })
  const incoming = createIncoming(folder)
  const at = (name: string) => ({ Bucket: bucket, Key: name })

  const read = async (name: string, range?: string): Promise<Readable> => {
    try {
      const { Body } = await client.send(new GetObjectCommand({ ...at(name), Range: range }))
      return Body as Readable // of the several kinds that the SDK knows, Node gets this one
    } catch (error) {
      if (error instanceof NoSuchKey) throw new BlobMissing(name, { cause: error })
      throw error
    }
  }

  const copyParts = async (
    upload: { readonly UploadId: string | undefined },
    name: string,
    parts: readonly BlobPart[],
  ) => {
    const copied: { PartNumber: number; ETag: string | undefined }[] = []
    for (const [i, part] of parts.entries()) {
      const body = { Body: await read(part.name), ContentLength: part.size }
      const { ETag } = await client.send(new UploadPartCommand({ ...at(name), ...upload, ...body, PartNumber: i + 1 }))
      copied.push({ PartNumber: i + 1, ETag })
    }
    await client.send(
      new CompleteMultipartUploadCommand({ ...at(name), ...upload, MultipartUpload: { Parts: copied } }),
    )
  }

  return {
    async receive(bytes) {
      const { path, size, etag, discard } = await incoming.take(bytes)
      const keep = async (name: string, mimeType: string): Promise<void> => {
        const body = { Body: createReadStream(path), ContentLength: size, ContentType: mimeType }
        await client.send(new PutObjectCommand({ ...at(name), ...body }))
      }
      return { size, etag, keep, discard }
    },
    async join(name, parts, mimeType) {
      const { UploadId } = await client.send(new CreateMultipartUploadCommand({ ...at(name), ContentType: mimeType }))
      try {
        await copyParts({ UploadId }, name, parts)
      } catch (error) {
        // One that cannot be told now is found by `tidy`; what went wrong first is what matters.
        await client.send(new AbortMultipartUploadCommand({ ...at(name), UploadId })).catch(() => undefined)
        throw error
      }
    },
    open: (name, range) => read(name, range && `bytes=${range.start}-${range.end}`),
    async remove(name) {
      await client.send(new DeleteObjectCommand(at(name)))
    },
    async *list(before) {
      let ContinuationToken: string | undefined
      do {
        const page = await client.send(new ListObjectsV2Command({ Bucket: bucket, ContinuationToken }))
        const old = page.Contents?.filter(({ LastModified }) => LastModified !== undefined && LastModified < before)
        yield old?.flatMap(({ Key }) => Key ?? []) ?? []
        ContinuationToken = page.NextContinuationToken
      } while (ContinuationToken !== undefined)
    },
    async tidy(before) {
      await incoming.tidy(before)
      // What remains beyond one page is seen the next time.
      const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: bucket }))
      for (const { Key, UploadId, Initiated } of Uploads)
        if (Initiated !== undefined && Initiated < before)
          await client.send(new AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId }))
    },
  }
}
