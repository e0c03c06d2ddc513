import type { NetworkMeasure } from '../base/network-measure.ts'
import { tellHost } from './channel.ts'

/** Nobody looks at numbers more often, and a message costs more than what it says. */
const TELL_MS = 500

/** Where the measures of this process go: they are sent together, a moment later. */
export function createMeasureLine(): (measure: NetworkMeasure) => void {
  let waiting: NetworkMeasure[] = []
  const flush = (): void => {
    tellHost({ kind: 'measures', measures: waiting })
    waiting = []
  }
  return (measure) => {
    if (waiting.length === 0) setTimeout(flush, TELL_MS).unref()
    waiting.push(measure)
  }
}
