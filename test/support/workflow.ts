import type { Prompt } from '../../src/contracts/prompt.ts'

/** A node of a workflow that is being written down. */
export interface Step {
  readonly type: string
  readonly inputs: Readonly<Record<string, unknown>>
}

/** An output of a step. Where a step itself is given, its first output is meant. */
export interface Wire {
  readonly step: Step
  readonly slot: number
}

export type Source = Step | Wire

/** A node of class `type`; inputs are values, steps or wires. */
export const step = (type: string, inputs: Readonly<Record<string, unknown>> = {}): Step => ({ type, inputs })

export const at = (step: Step, slot: number): Wire => ({ step, slot })

/** The graph that ends in `outputs`, in ComfyUI's API format; its nodes are numbered as they are needed. */
export function promptOf(...outputs: readonly Step[]): Prompt {
  const ids = new Map<Step, string>()
  const prompt: Prompt = {}
  const idOf = (each: Step): string => {
    const known = ids.get(each)
    if (known !== undefined) return known
    const inputs = Object.fromEntries(Object.entries(each.inputs).map(([name, value]) => [name, wired(value)]))
    const id = String(ids.size + 1)
    ids.set(each, id)
    prompt[id] = { class_type: each.type, inputs }
    return id
  }
  const wired = (value: unknown): unknown => {
    if (isStep(value)) return [idOf(value), 0]
    return isWire(value) ? [idOf(value.step), value.slot] : value
  }
  for (const output of outputs) idOf(output)
  return prompt
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null
const isStep = (value: unknown): value is Step => isObject(value) && 'type' in value
const isWire = (value: unknown): value is Wire => isObject(value) && 'slot' in value

/** What may be said of sampling; the rest is as in `sample`. */
export interface Wishes {
  readonly text?: string | Source
  readonly latents?: Source
  /** Any input of KSampler. */
  readonly [input: string]: unknown
}

/** What a checkpoint gives. */
export interface Loaded {
  readonly model: Source
  readonly clip: Source
  readonly vae: Source
}

export const loadedBy = (loader: Step): Loaded => ({ model: at(loader, 0), clip: at(loader, 1), vae: at(loader, 2) })
export const checkpoint = (file: string): Loaded => loadedBy(step('CheckpointLoaderSimple', { ckpt_name: file }))
export const encode = (clip: Source, text: string | Source): Step => step('CLIPTextEncode', { clip, text })
export const empty = (width = 64, height = 64, batch_size = 1): Step =>
  step('EmptyLatentImage', { width, height, batch_size })
export const decode = (samples: Source, vae: Source): Step => step('VAEDecode', { samples, vae })

/** KSampler over what `from` loads: 2 steps of Euler on 64 × 64 pixels unless `wishes` say otherwise. */
export function sample(
  { model, clip }: Omit<Loaded, 'vae'>,
  { text = 'a red house', latents = empty(), ...wishes }: Wishes = {},
): Step {
  return step('KSampler', {
    ...{ model, seed: 1, steps: 2, cfg: 5, sampler_name: 'euler', scheduler: 'normal', denoise: 1 },
    ...{ positive: encode(clip, text), negative: encode(clip, ''), latent_image: latents },
    ...wishes,
  })
}

/** The picture of what `sample` makes. */
export const textToImage = (from: Loaded, wishes?: Wishes): Step => decode(sample(from, wishes), from.vae)
