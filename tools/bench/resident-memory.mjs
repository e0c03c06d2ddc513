// What a server and its engines hold in memory, as Linux tells it. Types are in resident-memory.d.mts.
import { readFileSync } from 'node:fs'

const EVERY_MS = 50

/** The processes that `pid` has started. */
export const childrenOf = (pid) =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)

/** Looks every 50 ms at a server and the engines that it has now, until `end`. */
export function watchMemory(pid) {
  const engines = childrenOf(pid)
  const samples = []
  const look = () => {
    const main = residentOf(pid)
    const engine = engines.map(residentOf).reduce((sum, each) => sum + each, 0)
    samples.push({ main, engine, both: main + engine })
  }
  look()
  const timer = setInterval(look, EVERY_MS)
  return {
    end() {
      clearInterval(timer)
      look()
      const of = (key) => {
        const values = samples.map((sample) => Math.round(sample[key]))
        return { before: values[0], peak: Math.max(...values), after: values.at(-1) }
      }
      return { main: of('main'), engine: of('engine'), both: of('both') }
    },
  }
}

/** Megabytes; 0 when it has ended. */
function residentOf(pid) {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
  } catch {
    return 0
  }
}
