import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Transcription, TranscriptionRequest, UnusableMedia } from '../../contracts/transcription.ts'
import { WorkloadError } from '../base/errors.ts'
import type { SpeechJob } from '../engine/speech-protocol.ts'
import type { FetchFile } from '../media/fetch-file.ts'

/** The largest file (platform reference, section 26). */
const MOST_BYTES = 3 * 2 ** 30
const FETCH_MS = 30 * 60_000
/** Those that wait have their audio on the disk. */
const MOST_INSIDE = 16
/** Seconds after which to ask again when all places are taken, and when an operator has to do something first. */
const [BUSY_S, MISSING_S] = [30, 60]
const SHUTDOWN_S = 5

/** How a transcription ended. */
export type TranscriptionEnd = 'done' | 'unusable' | 'failed'

export interface TranscriptionDeps {
  /** The model that is installed; undefined when there is none. */
  findModel(): Promise<string | undefined>
  /** What is to be installed then. */
  readonly whatToInstall: string
  readonly fetchFile: FetchFile
  transcribe(job: SpeechJob, signal: AbortSignal): Promise<Transcription>
  /** Where audio lies while it is needed, a folder each. */
  readonly folder: string
  onEnded(end: TranscriptionEnd, seconds: number): void
  /** Milliseconds. */
  now(): number
}

/** Speech to text, for as many at a time as have a place; one is written down at a time. */
export interface Transcriptions {
  /**
   * What is said in the audio that `request` names, or why that cannot be used. Throws `no-speech-model`, `queue-full`,
   * `draining`, `invalid-request` for a language or translation that the model cannot do, and what went wrong here.
   */
  run(request: TranscriptionRequest, signal: AbortSignal): Promise<Transcription | UnusableMedia>
  /** Lets nobody in any more, and stops what is still inside after `graceMs`. */
  drain(graceMs: number): Promise<void>
}

export function createTranscriptions(deps: TranscriptionDeps): Transcriptions {
  const { findModel, whatToInstall, fetchFile, transcribe, folder, onEnded, now } = deps
  const inside = new Set<AbortController>()
  let draining = false
  let onEmpty: () => void = () => undefined

  const fetched = async (url: string, path: string, signal: AbortSignal): Promise<void> => {
    const tooLarge = (bytes: number) => {
      if (bytes > MOST_BYTES) throw unusable(`the file is larger than ${MOST_BYTES / 2 ** 30} GB`)
    }
    const late = AbortSignal.timeout(FETCH_MS)
    try {
      const makeRoom = async (bytes: number | undefined) => tooLarge(bytes ?? 0)
      await fetchFile({
        url,
        auth: undefined,
        path,
        signal: AbortSignal.any([signal, late]),
        makeRoom,
        onBytes: tooLarge,
      })
    } catch (error) {
      signal.throwIfAborted()
      if (late.aborted) throw unusable(`the audio could not be fetched within ${FETCH_MS / 60_000} minutes`)
      if (!(error instanceof WorkloadError) || error.code === 'media-unsupported') throw error
      // Only the disk can be too small here.
      if (error.code === 'model-too-large') throw new WorkloadError('execution-failed', error.message, { cause: error })
      throw unusable(`the audio could not be fetched: ${error.message}`, error)
    }
  }
  const work = async (request: TranscriptionRequest, signal: AbortSignal): Promise<Transcription> => {
    const { url, audio_stream_index: stream } = request
    if (!url) throw unusable('url is missing')
    if (!/^https?:/i.test(url)) throw unusable('only http and https URLs are fetched')
    if (stream) throw unusable(`only the first audio stream of a file can be read, which is number 0, not ${stream}`)
    await mkdir(folder, { recursive: true })
    const own = await mkdtemp(join(folder, 'audio-'))
    try {
      const began = now()
      const path = join(own, 'audio')
      await fetched(url, path, signal)
      const fetching = (now() - began) / 1000
      const transcription = await transcribe({ path, request }, signal)
      const { processing_time } = transcription
      return { ...transcription, processing_time: Math.round((fetching + processing_time) * 1000) / 1000 }
    } finally {
      await rm(own, { recursive: true, force: true })
    }
  }
  const counted = async (
    request: TranscriptionRequest,
    signal: AbortSignal,
  ): Promise<Transcription | UnusableMedia> => {
    const began = now()
    const end = (how: TranscriptionEnd) => onEnded(how, (now() - began) / 1000)
    try {
      const transcription = await work(request, signal)
      end('done')
      return transcription
    } catch (error) {
      const isUnusable = error instanceof WorkloadError && error.code === 'media-unsupported'
      end(isUnusable ? 'unusable' : 'failed')
      if (!isUnusable) throw error
      return { error: error.message, duration: 0 }
    }
  }
  return {
    async run(request, signal) {
      if (draining) throw new WorkloadError('draining', 'the server is shutting down', { retryAfter: SHUTDOWN_S })
      if (inside.size >= MOST_INSIDE)
        throw new WorkloadError('queue-full', `${MOST_INSIDE} transcriptions are under way, which is the limit`, {
          retryAfter: BUSY_S,
        })
      const stop = new AbortController()
      inside.add(stop)
      try {
        if ((await findModel()) === undefined)
          throw new WorkloadError('no-speech-model', whatToInstall, { retryAfter: MISSING_S })
        return await counted(request, AbortSignal.any([signal, stop.signal]))
      } finally {
        inside.delete(stop)
        if (inside.size === 0) onEmpty()
      }
    },
    async drain(graceMs) {
      draining = true
      if (inside.size === 0) return
      const empty = new Promise<void>((resolve) => {
        onEmpty = resolve
      })
      const late = setTimeout(() => {
        const reason = new WorkloadError('shutting-down', 'the server is shutting down', { retryAfter: SHUTDOWN_S })
        for (const stop of inside) stop.abort(reason)
      }, graceMs)
      await empty
      clearTimeout(late)
    },
  }
}

const unusable = (text: string, cause?: unknown) => new WorkloadError('media-unsupported', text, { cause })
