import { WorkloadError } from '../../base/errors.ts'
import type { Downscale } from '../../model/alterations.ts'
import type { ControlResiduals } from '../../model/control.ts'
import type { Tensors } from '../../runtime/session.ts'
import { rowsOf } from '../../tensor/rows.ts'
import { type Tensor, zeros } from '../../tensor/tensor.ts'
import type { WeightView } from '../../weights/weight-view.ts'
import { inputSizes } from './unet-sizes.ts'

/**
 * The inputs of a UNet's graph for what control networks add to `x` `[N, C, H, W]`; noughts where they add nothing.
 * Residuals of another size than their block are left out where `downscales` make the picture smaller, as in
 * ComfyUI. Throws `execution-failed` when they are those of another kind of UNet.
 */
export function controlInputs(
  view: WeightView,
  x: Tensor,
  { input = [], output = [], middle }: ControlResiduals,
  downscales: readonly Downscale[],
): Tensors {
  const [height, width] = x.dims.slice(2) as [number, number]
  const blocks = inputSizes(view, { height, width }, downscales)
  const last = blocks.at(-1)!
  const nothing = zeros([rowsOf(x), 1, 1, 1])
  const fitted = (residual: Tensor | undefined, wanted: readonly number[], place: string): Tensor => {
    if (!residual) return nothing
    const own = residual.dims.slice(1)
    if (wanted.join() === own.join()) return residual
    if (downscales.length > 0 && wanted[0] === own[0]) return nothing
    throw misfit(`it gives ${own.join('×')} for ${place}, where ${wanted.join('×')} are wanted`)
  }
  if ([...input.slice(blocks.length), ...output.slice(blocks.length)].some(Boolean))
    throw misfit(`it steers more than the ${blocks.length} input blocks that there are`)
  const named = blocks.flatMap(({ channels, given, kept }, i): [string, Tensor][] => [
    [`control_input_${i}`, fitted(input[i], [channels, given.height, given.width], `input block ${i}`)],
    [`control_output_${i}`, fitted(output[i], [channels, kept.height, kept.width], `the connection of block ${i}`)],
  ])
  const { channels, next } = last
  return {
    ...Object.fromEntries(named),
    control_middle: fitted(middle, [channels, next.height, next.width], 'the middle block'),
  }
}

const misfit = (how: string): WorkloadError =>
  new WorkloadError('execution-failed', `the control network is made for another kind of diffusion model: ${how}`)
