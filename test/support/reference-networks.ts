import { readFileSync } from 'node:fs'
import type { Summary } from './golden-models.ts'

/** The shapes of a network's weights, whose values follow from the goldens' rule. */
interface Weights {
  readonly keys: Readonly<Record<string, readonly number[]>>
}

export interface ReferenceAdapter extends Weights {
  /** Height and width. */
  readonly hint: readonly [number, number]
  /** The features of each level. */
  readonly results: readonly Omit<Summary, 'sum' | 'abs_mean'>[]
}

export interface ReferenceUpscaler extends Weights {
  /** Height and width. */
  readonly picture: readonly [number, number]
  readonly scale: number
  readonly result: Omit<Summary, 'sum' | 'abs_mean'>
}

export interface ReferenceUnion extends Weights {
  readonly kind: number
  /** The hint's features with what the network makes of them. */
  readonly fused: Omit<Summary, 'sum' | 'abs_mean'>
  /** What is added to the embedding of the timestep. */
  readonly added: Omit<Summary, 'sum' | 'abs_mean'>
}

/** What PyTorch makes of tiny networks; `tools/reference-networks.py` wrote it. */
export const referenceNetworks = JSON.parse(readFileSync('test/fixtures/reference-networks.json', 'utf8')) as {
  readonly adapters: Readonly<Record<string, ReferenceAdapter>>
  readonly union: ReferenceUnion
  readonly upscalers: Readonly<Record<string, ReferenceUpscaler>>
}
