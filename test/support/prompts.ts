import type { Prompt } from '../../src/contracts/prompt.ts'

/** Nodes by class and inputs, with `out` saving what `image` gives. */
export function saving(image: Prompt[string], more: Prompt = {}): Prompt {
  return { image, out: node('TestSave', { images: ['image', 0], filename_prefix: 'test' }), ...more }
}

export const node = (class_type: string, inputs: Record<string, unknown> = {}): Prompt[string] => ({
  class_type,
  inputs,
})

/** Seeds keep the result of one test from answering another. */
let seed = 0
export const picture = (size: { readonly width?: number; readonly height?: number; readonly rows?: number } = {}) =>
  node('TestPicture', { width: 16, height: 16, rows: 1, seed: ++seed, ...size })
export const slow = (steps: number, milliseconds: number, blocking = false) =>
  node('TestSlow', { steps, milliseconds, blocking, seed: ++seed })
/** A picture through a node that kills its process as often as `times` says. */
export const killing = (marker: string, times: number): Prompt => ({
  ...saving(node('TestKills', { image: ['source', 0], marker, times, seed: ++seed })),
  source: picture(),
})
