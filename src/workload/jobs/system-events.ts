import type { ComfyEvent, StorageEvent } from '../../contracts/system-event.ts'
import { maskedUrl } from '../base/credentials.ts'
import type { SystemWebhook } from '../delivery/system-webhook.ts'
import { createRunStory, type RunStory, type StorySink } from './run-story.ts'
import { type JobWatcher, nobody, type WatchedJob } from './watchers.ts'

type Data = Readonly<Record<string, unknown>>

/** A file that came or went. */
export interface StoredFile {
  /** Where it came from or went to; undefined when nobody knows any more. */
  readonly url: string | undefined
  /** Its name: what lies above it on this machine is nobody's business. */
  readonly name: string
  readonly bytes: number
}

/** A file that was carried over the network. */
export interface CarriedFile extends StoredFile {
  readonly seconds: number
}

/** What the operator is told of this server. */
export interface SystemEvents {
  readonly watcher: JobWatcher
  /** To be called once a file is here. */
  downloaded(file: CarriedFile): void
  /** To be called once a store has confirmed that it has a file. */
  uploaded(file: CarriedFile): void
  /** To be called once a file is gone. */
  deleted(file: StoredFile): void
}

/** Tells `webhook` of prompts in ComfyUI's words, and of files; `now` gives epoch milliseconds. */
export function createSystemEvents(webhook: Pick<SystemWebhook, 'tell'>, now: () => number): SystemEvents {
  const stories = new Map<WatchedJob, RunStory>()

  const tell = (type: string, data: Data, line: string, replaces?: string): void => {
    const event = `comfy.${type}` as ComfyEvent // a story tells what ComfyUI does
    webhook.tell({ event, data: { type, data }, line, ...(replaces !== undefined && { replaces }) })
  }
  const tellStatus = (): void => tell('status', { status: { exec_info: { queue_remaining: stories.size } } }, '')
  const sinkFor = ({ id }: WatchedJob): StorySink => {
    /** A prompt that is run again, because its engine died, shows again what it has shown. */
    const shown = new Set<unknown>()
    const send = (type: string, data: Data): void => {
      if (type === 'executed' && shown.has(data.node)) return
      if (type === 'executed') shown.add(data.node)
      tell(type, type === 'execution_error' ? { ...data, traceback: [lineOf(data)] } : data, id)
    }
    return {
      send,
      broadcast: send,
      // Of each node the newest: every sampler tells at least how it ended.
      sendIfFast(type, dataOf) {
        const data = dataOf()
        tell(type, data, id, type === 'progress' ? `progress ${String(data.node)}` : type)
      },
    }
  }
  const tellOf = (event: StorageEvent, { url, name, bytes }: StoredFile, more: Data = {}): void => {
    const where = url === undefined ? 'unknown' : maskedUrl(url)
    webhook.tell({ event, data: { url: where, local_path: name, size: bytes, ...more }, line: '' })
  }

  return {
    watcher: {
      ...nobody,
      queued(job, valid) {
        stories.set(job, createRunStory(job, valid, sinkFor(job), now))
        tellStatus()
      },
      started(job) {
        tellStatus()
        stories.get(job)?.started()
      },
      event: (job, event) => stories.get(job)?.event(event),
      ended(job, error) {
        const story = stories.get(job)
        if (!story) return
        const ran = story.stage === 'running'
        story.ended(error)
        stories.delete(job)
        if (ran) tell('executing', { node: null, display_node: null, prompt_id: job.id }, job.id)
        tellStatus()
      },
      // One that did not end here goes on elsewhere.
      forgotten(job) {
        if (stories.delete(job)) tellStatus()
      },
    },
    downloaded: (file) => tellOf('storage.file_downloaded', file, { duration: file.seconds }),
    uploaded: (file) => tellOf('storage.file_uploaded', file, { duration: file.seconds }),
    deleted: (file) => tellOf('storage.file_deleted', file),
  }
}

/** The one line of a traceback: whose fault it was, and no place in our files. */
const lineOf = ({ node_id, node_type, exception_message }: Data): string =>
  node_id === null ? `${exception_message}` : `Node ${node_id} (${node_type}): ${exception_message}`
