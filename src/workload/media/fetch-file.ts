import { createHash } from 'node:crypto'
import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Auth } from '../../contracts/credentials.ts'
import { WorkloadError } from '../base/errors.ts'
import { PassingFailure, withAttempts } from './attempts.ts'
import { openPart, type PartFile } from './part-file.ts'
import { fetchFailure, type OpenRemote, type RemoteFile } from './remote-file.ts'

/** So many bytes more, and attempts are counted anew: a large file may take many connections. */
const ADVANCE = 2 ** 20
/** After so many bytes they are put on the disk for good, and the disk is looked at. */
const KEEP_EVERY = 64 * 2 ** 20

/** A file to bring here. */
export interface FileRequest {
  readonly url: string
  readonly auth: Auth | undefined
  /** Where it is to lie. */
  readonly path: string
  /** True: a file that lies there is not replaced, which ends with `name-taken`. */
  readonly exclusive?: boolean
  readonly signal: AbortSignal
  /** SHA-256 in hex that the file must have. */
  readonly sha256?: string | undefined
  /** Looks at the first bytes and throws when this is no file that is wanted. */
  admit?(head: Uint8Array): void
  /** Called before bytes come, with their number where it is known, and before a file of unknown length gets its name. */
  makeRoom?(bytes: number | undefined): Promise<void>
  /** How much of the file is here. */
  onBytes?(received: number): void
}

/** A file that has come whole. */
export interface FetchedFile {
  readonly bytes: number
  readonly etag: string | undefined
}

/**
 * Brings a file here: it appears under its name when all of it is there and on the disk. A broken connection is taken up
 * where it broke, where the other side can do that, also in a later call. Throws `model-unavailable` (the other side
 * refuses), `download-failed` (it fails, or sends something else than it promised), `model-too-large`, `url-not-allowed`
 * and the reason of the signal.
 */
export type FetchFile = (request: FileRequest) => Promise<FetchedFile>

export interface FetchLimits {
  /** The most bytes of one file. */
  readonly maxBytes: number
  /** How many bytes of the disk stay free. */
  readonly minFreeBytes: number
  readonly firstPauseMs: number
}

export function createFetchFile(openRemote: OpenRemote, limits: FetchLimits, now: () => number): FetchFile {
  /** Who writes to a path, and after it whoever came later. */
  const writers = new Map<string, Promise<unknown>>()
  const tooLarge = (bytes: number) =>
    new WorkloadError(
      'model-too-large',
      bytes > limits.maxBytes
        ? `the file is larger than ${limits.maxBytes} bytes, the most that is fetched`
        : 'there is not enough room on the disk for the file',
    )
  const checkRoom = async (path: string, bytes: number) => {
    const { bavail, bsize } = await statfs(dirname(path))
    if (bavail * bsize - bytes < limits.minFreeBytes) throw tooLarge(0)
  }

  /** Reads one answer into the part. */
  const receive = async (part: PartFile, remote: RemoteFile, request: FileRequest): Promise<void> => {
    const { path, signal, admit, makeRoom, onBytes } = request
    const { total, validator = '', sha256: promised = '' } = remote
    if (remote.from !== part.bytes || remote.from === 0) await part.reset()
    if (total !== undefined && total > limits.maxBytes) throw tooLarge(total)
    await makeRoom?.(total)
    await checkRoom(path, (total ?? 0) - part.bytes)
    const of = { validator, promised: promised || part.promised }
    await part.keep(of)
    let kept = part.bytes
    for await (const piece of remote.body) {
      signal.throwIfAborted()
      if (part.bytes === 0) admit?.(piece)
      if (part.bytes + piece.length > limits.maxBytes) throw tooLarge(part.bytes + piece.length)
      await part.append(piece)
      onBytes?.(part.bytes)
      if (part.bytes - kept < KEEP_EVERY) continue
      await part.keep(of)
      kept = part.bytes
      if (total === undefined) await checkRoom(path, KEEP_EVERY)
    }
    if (total === undefined) await makeRoom?.(part.bytes)
    else if (part.bytes > total) await part.reset()
    if (total !== undefined && part.bytes !== total)
      throw new PassingFailure(`the file ended after ${part.bytes} of ${total} bytes`)
  }

  const attempt = async (part: PartFile, request: FileRequest): Promise<FetchedFile> => {
    const { url, auth, signal } = request
    const { bytes, validator } = part
    const resume = bytes > 0 && validator !== '' ? { bytes, validator } : undefined
    const remote = await openRemote({ url, auth, signal, resume })
    try {
      await receive(part, remote, request)
    } catch (error) {
      await remote.close().catch(() => undefined) // the connection may be what broke
      signal.throwIfAborted()
      throw isDiskFull(error) ? tooLarge(0) : fetchFailure(error)
    }
    const wanted = request.sha256?.toLowerCase() ?? part.promised
    if (wanted !== '' && part.sha256() !== wanted) {
      await part.reset()
      const text = `the file's SHA-256 is not ${wanted}, which it should be`
      throw resume ? new PassingFailure(text) : new WorkloadError('download-failed', text)
    }
    return { bytes: part.bytes, etag: remote.etag }
  }

  const fetch = async (request: FileRequest): Promise<FetchedFile> => {
    const { url, path, exclusive = false, signal } = request
    const part = await openPart(path, createHash('sha256').update(url).digest('hex'), now())
    let before = part.bytes
    const advanced = () => {
      const gained = part.bytes - before
      before = part.bytes
      return gained >= ADVANCE
    }
    try {
      const fetched = await withAttempts(() => attempt(part, request), { ...limits, signal, advanced })
      await part.finish(exclusive)
      return fetched
    } catch (error) {
      // What was refused or is not what it should be is worth nothing; the rest of the others can be fetched later.
      if (signal.aborted || (error instanceof WorkloadError && error.code === 'download-failed')) await part.leave()
      else await part.discard()
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
      throw new WorkloadError('name-taken', 'there is another file of that name', { cause: error })
    }
  }

  return async (request) => {
    const { path, signal } = request
    const turn = (writers.get(path) ?? Promise.resolve()).then(() => {
      signal.throwIfAborted()
      return fetch(request)
    })
    const done = turn.catch(() => undefined)
    writers.set(path, done)
    try {
      return await turn
    } finally {
      if (writers.get(path) === done) writers.delete(path)
    }
  }
}

const isDiskFull = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT')
