import { randomUUID } from 'node:crypto'
import { mkdir, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Log } from '../../common/log.ts'
import type { DownloadRecord, DownloadRequest } from '../../contracts/download.ts'
import { maskedUrl } from '../base/credentials.ts'
import { WorkloadError } from '../base/errors.ts'
import { ifThere } from '../base/if-there.ts'
import { asReadable } from '../base/problem.ts'
import type { FetchFile } from '../media/fetch-file.ts'
import type { FileEvents } from '../media/file-events.ts'
import { checkModelName, fileNameOf } from '../media/model-format.ts'
import type { ModelSources } from '../media/model-source.ts'

/** More than anybody asks about; the oldest that has ended goes first. */
const MOST_RECORDS = 1000

/** A model file on its way to a folder of this server, or there. */
export interface Download {
  readonly id: string
  readonly filename: string
  readonly record: Omit<DownloadRecord, 'error'>
  /** Why it failed. */
  readonly error: WorkloadError | undefined
  /** Resolves when it has ended, also in failure. */
  readonly ended: Promise<void>
}

/** Model files that clients have brought here. */
export interface Downloads {
  /**
   * Begins a download, or joins the one of the same file. Throws, before anything is fetched, `invalid-request`,
   * `path-not-allowed`, `model-unsupported`, `url-not-allowed` and, where a file of another URL has the name, `name-taken`.
   */
  start(request: DownloadRequest): Promise<Download>
  /** Throws `not-found` for an id that is unknown or forgotten. */
  view(id: string): Download
  /** Ends those that are under way; a later call for the same file goes on where they stopped. */
  close(): Promise<void>
}

export interface DownloadsDeps {
  readonly modelDir: string
  /** Kinds of models whose folder is made when it is not there. */
  readonly folderNames: readonly string[]
  readonly fetchFile: FetchFile
  readonly sources: ModelSources
  /** Throws `url-not-allowed` for what can be refused without asking anybody. */
  readonly check: (url: string, auth: DownloadRequest['auth']) => void
  readonly events: Pick<FileEvents, 'downloaded'>
  readonly log: Pick<Log, 'error'>
  /** Epoch milliseconds. */
  readonly now: () => number
}

export function createDownloads(deps: DownloadsDeps): Downloads {
  const { modelDir, fetchFile, sources, events, log, now } = deps
  const known = new Map<string, Download>()
  /** Path → what is being brought there. */
  const running = new Map<string, { readonly url: string; readonly download: Download }>()
  const ending = new AbortController()

  const checkType = async (type: string): Promise<string> => {
    const folder = join(modelDir, type)
    const plain = /^[A-Za-z0-9_][\w. -]*$/.test(type) && !type.includes('..')
    if (plain && deps.folderNames.includes(type)) return folder
    if (plain && (await ifThere(stat(folder)))?.isDirectory()) return folder
    const there = (await ifThere(readdir(modelDir, { withFileTypes: true }))) ?? []
    const others = there.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.')).map(({ name }) => name)
    const all = [...new Set([...deps.folderNames, ...others])].sort().join(', ')
    throw new WorkloadError('invalid-request', `model_type: must be one of ${all}`, { location: 'model_type' })
  }

  const begin = ({ url, auth, model_type }: DownloadRequest, filename: string, path: string): Download => {
    const began = now()
    const named = { id: randomUUID(), url: maskedUrl(url), model_type, filename }
    let record: Download['record'] = { ...named, status: 'started', received: 0 }
    let failure: WorkloadError | undefined
    const work = async () => {
      const there = await sources.look(path, url)
      if (there && !there.same) throw taken(filename)
      if (there) {
        record = { ...record, status: 'completed', received: there.bytes, size: there.bytes, duration: 0 }
        return
      }
      const onBytes = (received: number) => {
        record = { ...record, received }
      }
      const { bytes } = await fetchFile({ url, auth, path, exclusive: true, signal: ending.signal, onBytes })
      await sources.note(path, url)
      const duration = (now() - began) / 1000
      record = { ...record, status: 'completed', received: bytes, size: bytes, duration }
      events.downloaded({ url, name: `${model_type}/${filename}`, bytes, seconds: duration })
    }
    const ended = work().catch((error: unknown) => {
      failure = ending.signal.aborted ? new WorkloadError('shutting-down', 'the server is ending') : asReadable(error)
      if (failure.code === 'internal') log.error({ err: error }, 'a download failed')
      record = { ...record, status: 'failed' }
    })
    return {
      ...named,
      ended,
      get record() {
        return record
      },
      get error() {
        return failure
      },
    }
  }

  const forgetOldest = (): void => {
    for (const [id, { record }] of known) {
      if (known.size <= MOST_RECORDS) return
      if (record.status !== 'started') known.delete(id)
    }
  }

  return {
    async start(request) {
      const { url, auth, model_type } = request
      const filename = checkFilename(request.filename ?? fileNameOf(url))
      const folder = await checkType(model_type)
      deps.check(url, auth)
      await mkdir(folder, { recursive: true })
      const path = join(folder, filename)
      const there = await sources.look(path, url)
      const other = running.get(path)
      if (other ? other.url !== url : there && !there.same) throw taken(filename)
      if (other) return other.download
      const download = begin(request, filename, path)
      known.set(download.id, download)
      running.set(path, { url, download })
      void download.ended.then(() => running.delete(path))
      forgetOldest()
      return download
    },
    view(id) {
      const download = known.get(id)
      if (!download) throw new WorkloadError('not-found', `there is no download ${id}`)
      return download
    },
    async close() {
      ending.abort()
      await Promise.all([...running.values()].map(({ download }) => download.ended))
    },
  }
}

const taken = (filename: string) =>
  new WorkloadError('name-taken', `${filename} is the name of another file, which is not replaced`, {
    location: 'filename',
  })

/** Throws `path-not-allowed` for what is no plain name, and `model-unsupported` for what could not be opened here. */
function checkFilename(filename: string): string {
  const plain = /^[A-Za-z0-9][\w. -]{0,254}$/.test(filename) && !filename.includes('..')
  if (!plain)
    throw new WorkloadError(
      'path-not-allowed',
      'filename: must be 1 to 255 of A-Z a-z 0-9 . _ - and spaces, begin with a letter or digit and have no ".."',
      { location: 'filename' },
    )
  checkModelName(filename)
  return filename
}
