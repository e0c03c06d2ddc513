import type { Conditioning } from '../model/conditioning.ts'
import type { DiffusionModel, ModelInputs } from '../model/ports.ts'
import { repeatRows, stackRows } from '../tensor/rows.ts'
import { type Tensor, tensor } from '../tensor/tensor.ts'

/** What one entry of a conditioning contributes to the guess at the clean image. */
export interface Share {
  /** What the network is fed for it, first axis 1. */
  readonly inputs: ModelInputs
  /** How much it counts among the entries of its conditioning. */
  readonly weight: number
}

/** Shares that fit into one pass of the network, and the inputs of that pass: all rows of the first, then the next. */
export interface SharedPass<T extends Share> {
  readonly shares: readonly T[]
  readonly inputs: ModelInputs
}

/** Token sequences are repeated to a common length unless that makes one of them longer than this many times. */
const mostRepeats = 4

/** What the entries of `conditioning` ask of the model at a latent size. */
export function sharesOf(
  model: DiffusionModel,
  conditioning: Conditioning,
  size: { readonly height: number; readonly width: number },
): readonly Share[] {
  return conditioning.map((entry) => ({ inputs: model.inputsFor(entry, size), weight: entry.strength ?? 1 }))
}

/** Puts shares that agree in shape together, for `rows` latents each, so that the network runs as seldom as possible. */
export function passesOf<T extends Share>(shares: readonly T[], rows: number): readonly SharedPass<T>[] {
  const groups: T[][] = []
  for (const share of shares) {
    const group = groups.find(([first]) => fitsBeside(first!.inputs, share.inputs))
    if (group) group.push(share)
    else groups.push([share])
  }
  return groups.map((group) => ({ shares: group, inputs: stackedInputs(group, rows) }))
}

/** `[1, tokens, width]`: the only inputs whose length may differ between shares of one pass. */
const isSequence = ({ dims }: Tensor) => dims.length === 3

function fitsBeside(a: ModelInputs, b: ModelInputs): boolean {
  const names = Object.keys(a)
  if (names.length !== Object.keys(b).length) return false
  return names.every((name) => {
    const [one, other] = [a[name], b[name]]
    if (!one || !other || one.dims.length !== other.dims.length) return false
    if (one.dims.every((dim, i) => dim === other.dims[i])) return true
    if (!isSequence(one) || one.dims[2] !== other.dims[2]) return false
    const lengths = [one.dims[1]!, other.dims[1]!] as const
    return leastCommonMultiple(...lengths) / Math.min(...lengths) <= mostRepeats
  })
}

function stackedInputs(group: readonly Share[], rows: number): ModelInputs {
  const names = Object.keys(group[0]!.inputs)
  return Object.fromEntries(
    names.map((name) => {
      const tensors = group.map(({ inputs }) => inputs[name]!)
      const length = tensors.filter(isSequence).reduce((all, { dims }) => leastCommonMultiple(all, dims[1]!), 1)
      const parts = tensors.map((t) => repeatRows(isSequence(t) ? lengthened(t, length) : t, rows))
      return [name, stackRows(parts, group.length * rows)]
    }),
  )
}

/** `[1, tokens, width]` → `[1, length, width]`: attention over repeated tokens gives what it gives over them once. */
function lengthened(t: Tensor, length: number): Tensor {
  const [, tokens, width] = t.dims as [number, number, number]
  if (tokens === length) return t
  const data = new Float32Array(length * width)
  for (let at = 0; at < data.length; at += t.data.length) data.set(t.data, at)
  return tensor([1, length, width], data)
}

function leastCommonMultiple(a: number, b: number): number {
  let [divisor, rest] = [a, b]
  while (rest > 0) [divisor, rest] = [rest, divisor % rest]
  return (a / divisor) * b
}
