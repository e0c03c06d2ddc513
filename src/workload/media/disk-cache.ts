import { createHash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Log } from '../../common/log.ts'
import type { Auth } from '../../contracts/credentials.ts'
import { maskedUrl } from '../base/credentials.ts'
import { messageOf, WorkloadError } from '../base/errors.ts'
import { once } from '../base/once.ts'
import { withAttempts } from './attempts.ts'
import { type CacheEntry, openCacheIndex } from './cache-index.ts'
import type { FetchFile } from './fetch-file.ts'
import type { FileEvents } from './file-events.ts'
import type { OpenRemote } from './remote-file.ts'
import { type SharedWork, shareWork } from './shared-work.ts'

/** A file that is wanted, and by whom. */
export interface CacheRequest {
  readonly url: string
  /** The kind of file: a folder of the cache. */
  readonly folder: string
  /** With its dot. */
  readonly extension: string
  readonly auth: Auth | undefined
  readonly signal: AbortSignal
  /** Looks at the first bytes when the file is fetched and throws when it is not wanted. */
  admit?(head: Uint8Array): void
}

/** A file that stays where it is until it is released. */
export interface HeldFile {
  /** Its name in its folder. */
  readonly name: string
  release(): void
}

/** Files from URLs, kept on the disk. */
export interface DiskCache {
  /** The file behind a URL, fetched unless it is here. Throws what `FetchFile` throws. */
  take(request: CacheRequest): Promise<HeldFile>
  /** Bytes that the files take up. */
  bytes(): Promise<number>
  /** Resolves when what is known of the files is on the disk. */
  close(): Promise<void>
}

export interface DiskCacheDeps {
  readonly root: string
  /** 0: no limit. Files in use may exceed it. */
  readonly maxBytes: number
  readonly fetchFile: FetchFile
  readonly openRemote: OpenRemote
  readonly events: FileEvents
  readonly log: Pick<Log, 'warn'>
  /** Epoch milliseconds. */
  readonly now: () => number
  readonly firstPauseMs: number
}

interface Fetching extends SharedWork<void> {
  readonly auth: Auth | undefined
}

/**
 * The name of the file behind a URL: the same wherever it is asked for, and different for every URL. A store that who asks
 * brings along is part of it, for it could say that it has any file, and be believed about another store's.
 */
export function cachedName({ url, extension, auth }: Pick<CacheRequest, 'url' | 'extension' | 'auth'>): string {
  const store = auth?.type === 's3' && auth.endpoint !== undefined ? `${auth.endpoint} ` : ''
  return createHash('sha256').update(store).update(url).digest('base64url').slice(0, 32) + extension
}

/**
 * A cache that removes what was unused for longest when it needs room, and nothing that is in use. A file that was fetched
 * with an identity is given only to those whom the other side still gives it to.
 */
export function createDiskCache(deps: DiskCacheDeps): DiskCache {
  const { root, maxBytes, fetchFile, openRemote, events, log, now, firstPauseMs } = deps
  const index = once(() => openCacheIndex(root, log, now()))
  const fetching = new Map<string, Fetching>()
  const holders = new Map<string, number>()
  /** Bytes that are on their way. */
  const expected = new Map<string, number>()

  const hold = (key: string): (() => void) => {
    holders.set(key, (holders.get(key) ?? 0) + 1)
    return onceOnly(() => {
      const left = holders.get(key)! - 1
      if (left > 0) return void holders.set(key, left)
      holders.delete(key)
      trim().catch((error: unknown) => log.warn({ cause: messageOf(error) }, 'the model cache cannot be trimmed'))
    })
  }

  /** Removes unused files until all fits, as far as that is possible. */
  const trim = async (): Promise<void> => {
    const { entries, delete: forget } = await index()
    const total = () =>
      sum([...entries].map(([key, { bytes }]) => (expected.has(key) ? 0 : bytes))) + sum([...expected.values()])
    while (maxBytes > 0 && total() > maxBytes) {
      const unused = [...entries].filter(([key]) => !holders.has(key)).sort(([, a], [, b]) => a.usedMs - b.usedMs)
      const [[key, { bytes, url }] = ['', { bytes: 0, url: undefined }]] = unused
      if (key === '')
        return log.warn({ bytes: total(), limit: maxBytes }, 'models in use exceed the limit of the cache')
      forget(key)
      await rm(join(root, key), { force: true })
      events.deleted({ url, name: key, bytes })
    }
  }

  const fetch = async (key: string, request: CacheRequest, signal: AbortSignal): Promise<void> => {
    const { url, auth, admit } = request
    const began = now()
    const makeRoom = async (bytes = 0) => {
      if (maxBytes > 0 && bytes > maxBytes)
        throw new WorkloadError('model-too-large', `the file is larger than the whole cache of ${maxBytes} bytes`)
      expected.set(key, bytes)
      await trim()
    }
    try {
      const path = join(root, key)
      const { bytes, etag } = await fetchFile({ url, auth, path, signal, makeRoom, ...(admit && { admit }) })
      const known = await index()
      known.set(key, { bytes, usedMs: now(), url: maskedUrl(url), etag, guarded: auth !== undefined })
      events.downloaded({ url, name: key, bytes, seconds: (now() - began) / 1000 })
    } finally {
      expected.delete(key)
    }
  }

  /** Whether the file behind the URL is still the one that is here, and who asks may have it; throws when they may not. */
  const isCurrent = (entry: CacheEntry, { url, auth, signal }: CacheRequest): Promise<boolean> =>
    withAttempts(
      async () => {
        const remote = await openRemote({ url, auth, signal, known: entry.etag })
        await remote.close()
        if (remote.unchanged) return true
        if (entry.etag !== undefined && remote.etag !== undefined) return remote.etag === entry.etag
        return remote.total === entry.bytes
      },
      { signal, firstPauseMs },
    )

  const provide = async (key: string, request: CacheRequest): Promise<void> => {
    const { auth, signal } = request
    const known = await index()
    for (;;) {
      signal.throwIfAborted()
      const running = fetching.get(key)
      if (running?.abandoned) await running.ended
      else if (running) {
        const isOurs = isDeepStrictEqual(running.auth, auth)
        const came = await running.wait(signal).then(
          () => true,
          (error: unknown) => {
            if (isOurs || signal.aborted) throw error
            return false // what was refused to others may be given to us
          },
        )
        if (came && isOurs) return
      } else {
        const entry = await known.find(key)
        if (entry && (!entry.guarded || (await isCurrent(entry, request)))) {
          known.set(key, { ...entry, usedMs: now() })
          return
        }
        if (fetching.has(key)) continue // somebody was faster
        const started = shareWork((shared) => fetch(key, request, shared))
        fetching.set(key, Object.assign(started, { auth }))
        void started.ended.then(() => fetching.delete(key))
      }
    }
  }

  return {
    async take(request) {
      const name = cachedName(request)
      const key = `${request.folder}/${name}`
      const release = hold(key)
      try {
        await provide(key, request)
        return { name, release }
      } catch (error) {
        release()
        throw error
      }
    },
    bytes: async () => sum([...(await index()).entries.values()].map(({ bytes }) => bytes)),
    close: async () => (await index()).written(),
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0)

function onceOnly(act: () => void): () => void {
  let done = false
  return () => {
    if (!done) act()
    done = true
  }
}
