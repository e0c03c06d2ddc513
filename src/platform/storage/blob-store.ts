import type { Readable } from 'node:stream'

/** Bytes that have come, in a temporary place. */
export interface Received {
  readonly size: number
  /** Hexadecimal MD5. */
  readonly etag: string
  /** Stores them under a name that is not taken; durable when it resolves. */
  keep(name: string, mimeType: string): Promise<void>
  /** Gives the temporary place up, whether they were kept or not; whoever called `receive` must call it. */
  discard(): Promise<void>
}

/** A stored blob as one of several. */
export interface BlobPart {
  readonly name: string
  readonly size: number
}

/** The first and the last byte, both included. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/**
 * Where the bytes of files lie. A blob is written once and never changed, so what a record points to is always the
 * whole of one upload; a blob without a record is found by `list` and removed.
 */
export interface BlobStore {
  /** Takes bytes as they come, in no more memory than a stream has. Rejects when the stream fails, and keeps nothing then. */
  receive(bytes: AsyncIterable<Uint8Array>): Promise<Received>
  /** Stores parts one after the other as a new blob. Throws `BlobMissing`. */
  join(name: string, parts: readonly BlobPart[], mimeType: string): Promise<void>
  /** Throws `BlobMissing`. */
  open(name: string, range?: ByteRange): Promise<Readable>
  /** Does nothing when there is none. */
  remove(name: string): Promise<void>
  /** Names of blobs written before a time, in groups. */
  list(before: Date): AsyncIterable<readonly string[]>
  /** Removes what writes that were interrupted before a time have left. */
  tidy(before: Date): Promise<void>
}

/** A blob is not there, perhaps no longer. */
export class BlobMissing extends Error {
  override readonly name = 'BlobMissing'
}
