import { createRunStory, type RunStory, type StorySink } from '../../jobs/run-story.ts'
import { type JobWatcher, nobody, type WatchedJob } from '../../jobs/watchers.ts'
import { createAttendance } from './attendance.ts'
import type { Clients } from './clients.ts'

/** More entries of history than upstream keeps are of no use to its clients. */
const MOST_ENTRIES = 10_000

/** ComfyUI's view of the jobs: its queue, its history, and its events for the clients that are connected. */
export interface ComfyDesk {
  readonly watcher: JobWatcher
  /** Prompts that run or wait. */
  readonly remaining: number
  readonly running: readonly RunStory[]
  /** In the order of their numbers. */
  readonly pending: readonly RunStory[]
  /** What has ended, oldest first. */
  readonly past: readonly RunStory[]
  /** Takes an entry, or without an id all of them, out of the history; the jobs stay. */
  forget(id?: string): void
}

/** Tells `clients` what happens; `now` gives epoch milliseconds. */
export function createComfyDesk(clients: Clients, now: () => number): ComfyDesk {
  /** In the order in which they came, and once they have ended, in that of their ends. */
  const stories = new Map<WatchedJob, RunStory>()
  const at = (stage: RunStory['stage']) => [...stories.values()].filter((story) => story.stage === stage)
  const attendance = createAttendance(clients)
  const tellStatus = (): void => clients.broadcast('status', { status: statusOf(desk.remaining) })

  const desk: ComfyDesk = {
    get remaining() {
      return stories.size - desk.past.length
    },
    get running() {
      return at('running')
    },
    get pending() {
      return at('pending').sort((a, b) => a.job.number - b.job.number)
    },
    get past() {
      return at('ended')
    },
    forget(id) {
      for (const { job } of desk.past) if (id === undefined || job.id === id) stories.delete(job)
    },
    watcher: {
      ...nobody,
      queued(job, valid) {
        const clientId = job.submission?.clientId
        const sink: StorySink = {
          send: (type, data) => clients.send(clientId, type, data),
          sendIfFast: (type, data) => clients.sendIfFast(clientId, type, data),
          broadcast: clients.broadcast,
        }
        stories.set(job, createRunStory(job, valid, sink, now))
        attendance.begin(job)
        tellStatus()
      },
      started(job) {
        tellStatus()
        stories.get(job)?.started()
      },
      event(job, event) {
        const { kind, node, preview } = event
        if (kind !== 'preview') stories.get(job)?.event(event)
        else if (preview && attendance.looks(job))
          clients.sendPreview(job.submission?.clientId, { prompt: job.id, node, jpeg: preview })
      },
      ended(job, error) {
        const story = stories.get(job)
        if (!story) return
        attendance.end(job)
        const waited = story.stage === 'pending'
        story.ended(error)
        stories.delete(job)
        // A prompt that was taken out of the queue has no history.
        if (!(waited && error?.code === 'cancelled')) stories.set(job, story)
        const { past } = desk
        if (past.length > MOST_ENTRIES) stories.delete(past[0]!.job)
        tellStatus()
        clients.send(job.submission?.clientId, 'executing', { node: null, prompt_id: job.id })
      },
      forgotten: (job) => void stories.delete(job),
    },
  }
  clients.onConnected((clientId) => {
    clients.send(clientId, 'status', { status: statusOf(desk.remaining), sid: clientId })
    for (const { job, current } of desk.running)
      if (job.submission?.clientId === clientId && current !== undefined)
        clients.send(clientId, 'executing', { node: current, display_node: current, prompt_id: job.id })
  })
  return desk
}

/** What `status` and `GET /prompt` tell. */
export const statusOf = (queue_remaining: number) => ({ exec_info: { queue_remaining } })
