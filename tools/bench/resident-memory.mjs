// What processes hold in memory, as Linux tells it.
import { readFileSync } from 'node:fs'

const EVERY_MS = 50

/** Megabytes that a process holds now; 0 when it has ended. */
export function residentOf(pid) {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
  } catch {
    return 0
  }
}

/** Looks every 50 ms until `end`, which tells what they held at first, at most and at last, in whole megabytes. */
export function watchMemory({ main, engines }) {
  const samples = []
  const look = () => {
    const now = { main: residentOf(main), engines: engines.reduce((sum, pid) => sum + residentOf(pid), 0) }
    samples.push({ ...now, both: now.main + now.engines, at: performance.now() })
  }
  look()
  const timer = setInterval(look, EVERY_MS)
  return {
    samples,
    end() {
      clearInterval(timer)
      look()
      const of = (key) => {
        const values = samples.map((sample) => sample[key])
        return { before: Math.round(values[0]), peak: Math.round(Math.max(...values)), after: Math.round(values.at(-1)) }
      }
      return { main: of('main'), engines: of('engines'), both: of('both') }
    },
  }
}
