import type { AppliedControl, ControlResiduals } from '../model/control.ts'
import type { ModelInputs } from '../model/ports.ts'
import { resized } from '../tensor/resize.ts'
import { repeatRows } from '../tensor/rows.ts'
import { combined, type Tensor } from '../tensor/tensor.ts'

/** What control networks add to one pass of the network. */
export interface ControlPass {
  readonly controls: readonly AppliedControl[]
  /** What the network is fed in this pass; pictures beside `x` are not shown to control networks. */
  readonly inputs: ModelInputs
  /** Latents that share each input of the pass. */
  readonly rows: number
}

/** Asks control networks; the hints it has brought to size are kept for the run. */
export type ControlCaller = (
  pass: ControlPass,
  x: Tensor,
  timesteps: readonly number[],
) => Promise<ControlResiduals | undefined>

/** Makes a run's caller of control networks: their residuals are weighted by their strengths and added up. */
export function createControlCaller(signal: AbortSignal): ControlCaller {
  const hints = new Map<AppliedControl, Map<string, Tensor>>()

  /** `[N, 3, …]` as large as `x` asks for, the pictures of a batch in turn. */
  const hintFor = (applied: AppliedControl, { dims }: Tensor, rows: number): Tensor => {
    const [count, , height, width] = dims as [number, number, number, number]
    const sizes = hints.get(applied) ?? new Map<string, Tensor>()
    hints.set(applied, sizes)
    const key = [count, rows, height, width].join()
    const known = sizes.get(key)
    if (known) return known
    const { hintScale, hintMultiple = 1 } = applied.control
    const pixels = (cells: number) => Math.ceil((cells * hintScale) / hintMultiple) * hintMultiple
    const sized = resized(applied.hint, pixels(width), pixels(height), 'nearest-exact', 'center')
    const hint = repeatRows(repeatRows(sized, rows), count)
    sizes.set(key, hint)
    return hint
  }

  return async ({ controls, inputs: { concat: _, ...inputs }, rows }, x, timesteps) => {
    let sum: ControlResiduals | undefined
    for (const applied of controls) {
      signal.throwIfAborted()
      const own = await applied.control.residuals(x, timesteps, inputs, hintFor(applied, x, rows))
      sum = added(sum, own, applied.strength)
    }
    return sum
  }
}

/** The residuals of `before` and `strength` times those of `own`, block by block. */
function added(before: ControlResiduals | undefined, own: ControlResiduals, strength: number): ControlResiduals {
  if (!before && strength === 1) return own
  const add = (a: Tensor | undefined, b: Tensor | undefined): Tensor | undefined =>
    a && b ? combined([1, a], [strength, b]) : (a ?? (b && combined([strength, b])))
  const each = (a: ControlResiduals['input'] = [], b: ControlResiduals['input'] = []) =>
    Array.from({ length: Math.max(a.length, b.length) }, (_, i) => add(a[i], b[i]))
  return {
    input: each(before?.input, own.input),
    output: each(before?.output, own.output),
    middle: add(before?.middle, own.middle),
  }
}
