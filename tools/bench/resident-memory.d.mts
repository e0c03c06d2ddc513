/** Resident megabytes: at first, at most and at last. */
export interface Resident {
  readonly before: number
  readonly peak: number
  readonly after: number
}

/** What was seen. `both` was held at one time, so its peak may be less than the sum of the others. */
export interface MemorySeen {
  readonly main: Resident
  readonly engine: Resident
  readonly both: Resident
}

/** The processes that `pid` has started. */
export function childrenOf(pid: number): readonly number[]

/** Looks every 50 ms at a server and the engines that it has now, until `end`. */
export function watchMemory(pid: number): { end(): MemorySeen }
