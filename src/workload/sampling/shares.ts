import type { AppliedControl } from '../model/control.ts'
import type { ModelInputs } from '../model/ports.ts'
import { repeatRows, stackRows } from '../tensor/rows.ts'
import { type Tensor, tensor } from '../tensor/tensor.ts'
import type { Region } from './region.ts'

/** What one entry of a conditioning contributes to the guess at the clean image. */
export interface Share {
  /** Which of the conditionings it belongs to. */
  readonly side: number
  /** What the network is fed for it, 4-d inputs in the size of its region. */
  readonly inputs: ModelInputs
  /** What the network is shown of the picture; undefined: all of it. */
  readonly region: Region | undefined
  /** How much of its conditioning's guess is its own: everywhere, or at each cell of its region `[M, H, W]`. */
  readonly weight: number | Tensor
  readonly controls: readonly AppliedControl[]
}

/** Shares that fit into one pass of the network, and the inputs of that pass: all rows of the first, then the next. */
export interface SharedPass {
  readonly shares: readonly Share[]
  readonly inputs: ModelInputs
  readonly controls: readonly AppliedControl[]
}

/** Token sequences are repeated to a common length unless that makes one of them longer than this many times. */
const mostRepeats = 4

/** Puts shares that agree in shape together, for `rows` latents each, so that the network runs as seldom as possible. */
export function passesOf(shares: readonly Share[], rows: number): readonly SharedPass[] {
  const groups: Share[][] = []
  for (const share of shares) {
    const group = groups.find(([first]) => fitsBeside(first!, share))
    if (group) group.push(share)
    else groups.push([share])
  }
  return groups.map((group) => ({
    shares: group,
    inputs: stackedInputs(group, rows),
    controls: group[0]!.controls,
  }))
}

/** `[1, tokens, width]`: the only inputs whose length may differ between shares of one pass. */
const isSequence = ({ dims }: Tensor) => dims.length === 3

function fitsBeside(a: Share, b: Share): boolean {
  if (a.region?.height !== b.region?.height || a.region?.width !== b.region?.width) return false
  if (a.controls.length !== b.controls.length || a.controls.some((one, i) => one !== b.controls[i])) return false
  const names = Object.keys(a.inputs)
  if (names.length !== Object.keys(b.inputs).length) return false
  return names.every((name) => {
    const [one, other] = [a.inputs[name], b.inputs[name]]
    if (!one || !other || one.dims.length !== other.dims.length) return false
    if (one.dims.every((dim, i) => i === 0 || dim === other.dims[i])) return true
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
  const [rows, tokens, width] = t.dims as [number, number, number]
  if (tokens === length) return t
  const data = new Float32Array(rows * length * width)
  const own = tokens * width
  for (let at = 0; at < data.length; at += own) {
    const row = Math.floor(at / (length * width))
    data.set(t.data.subarray(row * own, (row + 1) * own), at)
  }
  return tensor([rows, length, width], data)
}

function leastCommonMultiple(a: number, b: number): number {
  let [divisor, rest] = [a, b]
  while (rest > 0) [divisor, rest] = [rest, divisor % rest]
  return (a / divisor) * b
}
