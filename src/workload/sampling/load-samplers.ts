import { discover } from '../base/discover.ts'
import { inOrder, samplerOrder } from './catalogue-order.ts'
import type { Sampler } from './sampler.ts'

const asSampler = (exported: unknown): Sampler | undefined =>
  typeof exported === 'object' && exported !== null && 'sample' in exported && 'name' in exported
    ? (exported as Sampler) // the folder holds samplers; conformance tests run each
    : undefined

/** Every sampler in `samplers/`, by the name prompts call it, in ComfyUI's order. */
export async function loadSamplers(): Promise<ReadonlyMap<string, Sampler>> {
  return inOrder(await discover(new URL('./samplers/', import.meta.url), asSampler, ({ name }) => name), samplerOrder)
}
