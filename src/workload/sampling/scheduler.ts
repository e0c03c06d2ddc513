import type { ModelSampling } from '../model/ports.ts'

/** A rule that picks the noise levels of a run. One file each in `schedulers/`. */
export interface Scheduler {
  /** ComfyUI's `scheduler` name. */
  readonly name: string
  /** Falling levels for `steps` steps, usually `steps + 1` values ending in zero. */
  sigmas(steps: number, model: ModelSampling): Float32Array
}
