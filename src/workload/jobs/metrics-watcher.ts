import type { Metrics } from '../base/metrics.ts'
import type { NodeOutput } from './ports.ts'
import { type JobWatcher, nobody, type WatchedJob } from './watchers.ts'

type JobMeters = Pick<Metrics, 'onJobStarted' | 'onJobEnded' | 'onNodeEnded' | 'onOutput' | 'onConversion'>

/** What is known of a prompt on its way. Times are epoch milliseconds. */
interface Course {
  readonly classOf: (node: string) => string
  /** Undefined once it has waited: a second try has not come again. */
  queued: number | undefined
  /** When the nodes at work began. */
  readonly begun: Map<string, number>
}

/** Counts prompts, their nodes and what they make; `now` gives epoch milliseconds. */
export function createMetricsWatcher(meters: JobMeters, now: () => number): JobWatcher {
  const courses = new Map<WatchedJob, Course>()
  const countFiles = ({ files }: NodeOutput, took: number | undefined): void => {
    const results = files.filter(({ retention }) => retention === 'output')
    for (const { mime, bytes } of results) meters.onOutput(formatOf(mime), bytes)
    const [first] = results
    if (first && took !== undefined) meters.onConversion(formatOf(first.mime), took / 1000)
  }
  return {
    ...nobody,
    queued(job, { prompt }) {
      // Only classes that we have are ever run, so this label has few values.
      const classOf = (node: string) => prompt[node]?.class_type ?? 'other'
      courses.set(job, { classOf, queued: now(), begun: new Map() })
    },
    started(job) {
      const course = courses.get(job)
      if (!course) return
      if (course.queued !== undefined) meters.onJobStarted(seconds(course.queued, now()))
      course.queued = undefined
      course.begun.clear()
    },
    event(job, { kind, node, at, output, took }) {
      const course = courses.get(job)
      if (kind === 'started') course?.begun.set(node, at)
      const began = course?.begun.get(node)
      if (course && kind === 'finished' && began !== undefined)
        meters.onNodeEnded(course.classOf(node), seconds(began, at))
      if (output) countFiles(output, took)
    },
    ended(job, error) {
      courses.delete(job)
      const status = error === undefined ? 'succeeded' : error.code === 'cancelled' ? 'cancelled' : 'failed'
      meters.onJobEnded(status, seconds(job.created, now()))
    },
    forgotten: (job) => void courses.delete(job),
  }
}

/** Clocks of two processes may disagree a little. */
const seconds = (from: number, to: number): number => Math.max(0, to - from) / 1000

/** `image/jpeg` becomes `jpeg`, whichever way a request spells it. */
const formatOf = (mime: string): string => mime.slice(mime.indexOf('/') + 1)
