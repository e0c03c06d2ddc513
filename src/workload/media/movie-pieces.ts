import type { FileHandle } from 'node:fs/promises'
import { WorkloadError } from '../base/errors.ts'
import { readPieces } from './read-pieces.ts'

/** The index of two and a half hours has a few MiB. */
const MOST_INDEX_BYTES = 64 * 2 ** 20
/** Of audio that is not compressed every sample has an entry. */
const MOST_ENTRIES = 20_000_000
const MOST_BOXES = 100_000

interface Box {
  readonly type: string
  readonly start: number
  readonly end: number
}

/**
 * An MP4 or QuickTime file in pieces, its index (`moov`) in the first one. Cameras write the index last, and a decoder
 * would have to keep all that comes before it: here it is moved before the media, and its offsets with it.
 */
export async function* moviePieces(file: FileHandle, bytes: number, size: number): AsyncGenerator<Uint8Array> {
  const boxes = await boxesOf(file, bytes)
  const index = boxes.find(({ type }) => type === 'moov')
  if (!index) throw damaged('it has no index of its media')
  if (index.end - index.start > MOST_INDEX_BYTES) throw damaged('the index of its media is too large')
  const moov = await bytesAt(file, index.start, index.end)
  const first = boxes.find(({ type, start }) => type === 'mdat' && start < index.start)
  const from = first?.start ?? index.start
  checkTables(moov, (table, at, entryBytes) => {
    if (first) moveOffset(table, at, entryBytes, { from, until: index.start, by: moov.length })
  })
  if (from > MOST_INDEX_BYTES) throw damaged('there is too much before its media')
  yield Buffer.concat([await bytesAt(file, 0, from), moov])
  yield* readPieces(file, from, index.start, size)
  yield* readPieces(file, index.end, bytes, size)
}

/** The boxes of the file itself (ISO/IEC 14496-12, section 4.2). */
async function boxesOf(file: FileHandle, bytes: number): Promise<readonly Box[]> {
  const boxes: Box[] = []
  for (let start = 0; start + 8 <= bytes && boxes.length < MOST_BOXES; start = boxes.at(-1)!.end) {
    const head = await bytesAt(file, start, Math.min(start + 16, bytes))
    const length = lengthOf(head, bytes - start)
    if (length < 8) break
    boxes.push({ type: head.toString('latin1', 4, 8), start, end: Math.min(start + length, bytes) })
  }
  return boxes
}

/** 0 means as far as there is anything, 1 that the length follows in 64 bits. */
function lengthOf(head: Buffer, rest: number): number {
  const length = head.readUInt32BE(0)
  if (length === 0) return rest
  if (length > 1) return length
  return head.length >= 16 ? Number(head.readBigUInt64BE(8)) : 0
}

/** Bytes of an entry of the tables whose length a file claims, which would be believed. */
const tables: Readonly<Record<string, number>> = { stco: 4, co64: 8, stsc: 12, stsz: 4 }
const containers = new Set(['moov', 'trak', 'mdia', 'minf', 'stbl'])

/** Throws where a table has not the entries that it claims; `onOffset` is told of the places of all offsets. */
function checkTables(box: Buffer, onOffset: (table: Buffer, at: number, entryBytes: number) => void): void {
  for (let at = 8; at + 8 <= box.length; ) {
    const length = lengthOf(box.subarray(at, at + 16), box.length - at)
    if (length < 8 || at + length > box.length) throw damaged('the index of its media is cut off')
    const inner = box.subarray(at, at + length)
    const type = inner.toString('latin1', 4, 8)
    const entryBytes = tables[type]
    if (containers.has(type)) checkTables(inner, onOffset)
    else if (entryBytes !== undefined) {
      const first = type === 'stsz' ? 20 : 16
      if (inner.length < first) throw damaged('the index of its media is cut off')
      const entries = inner.readUInt32BE(first - 4)
      const alike = type === 'stsz' && inner.readUInt32BE(12) !== 0
      if (entries > MOST_ENTRIES || (!alike && first + entries * entryBytes > inner.length))
        throw damaged('the index of its media claims more than it has')
      if (type === 'stco' || type === 'co64')
        for (let i = 0; i < entries; i++) onOffset(inner, first + i * entryBytes, entryBytes)
    }
    at += length
  }
}

/** Adds `by` to an offset that points between `from` and `until`. */
function moveOffset(
  table: Buffer,
  at: number,
  bytes: number,
  { from, until, by }: { readonly from: number; readonly until: number; readonly by: number },
): void {
  const offset = bytes === 4 ? table.readUInt32BE(at) : Number(table.readBigUInt64BE(at))
  if (offset < from || offset >= until) return
  if (bytes === 4) table.writeUInt32BE(offset + by, at)
  else table.writeBigUInt64BE(BigInt(offset + by), at)
}

async function bytesAt(file: FileHandle, start: number, end: number): Promise<Buffer> {
  const { bytesRead, buffer } = await file.read(Buffer.alloc(end - start), 0, end - start, start)
  return buffer.subarray(0, bytesRead)
}

const damaged = (what: string) => new WorkloadError('media-unsupported', `the file cannot be read: ${what}`)
