import type { Area, Conditioning, ConditioningEntry } from '../../model/conditioning.ts'
import type { Tensor } from '../../tensor/tensor.ts'

/** The first entry of a conditioning that another takes its text from. */
export function firstEntry([entry]: Conditioning): ConditioningEntry {
  if (!entry) throw new Error('the conditioning is empty')
  return entry
}

/** Throws when two texts were encoded for different models. */
export function requireWidth(a: Tensor, b: Tensor): void {
  const [one, other] = [a.dims.at(-1), b.dims.at(-1)]
  if (one !== other)
    throw new Error(`the conditionings are of different text encoders: ${one} and ${other} numbers a token`)
}

/** `conditioning` limited to `area`; a mask no longer decides what the model is shown. */
export function withArea(conditioning: Conditioning, area: Area, strength: number): Conditioning {
  return conditioning.map(({ mask, ...entry }) => ({
    ...entry,
    area,
    strength,
    ...(mask && { mask: { ...mask, toBounds: false } }),
  }))
}
