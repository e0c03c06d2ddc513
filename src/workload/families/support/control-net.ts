import { controlNetGraph } from '../../architectures/control-net.ts'
import { readUnetConfig } from '../../architectures/unet.ts'
import { unionKinds } from '../../architectures/union-control.ts'
import { WorkloadError } from '../../base/errors.ts'
import type { ControlModel } from '../../model/control.ts'
import { type Tensor, tensor } from '../../tensor/tensor.ts'
import { bytesOf, type WeightView } from '../../weights/weight-view.ts'
import type { FamilyServices } from './family.ts'
import { headsOfWidth64 } from './heads.ts'
import { sourceOf } from './session-source.ts'

export interface ControlParts {
  /** Which file it is, and changes when it is replaced: equal keys share a session. */
  readonly key: string
  /** Under the names that architectures know. */
  readonly view: WeightView
}

export interface ControlNetParts extends ControlParts {
  /** Whether residuals are averaged over the picture. */
  readonly averaged: boolean
  /** Which kind of hint a union network is given; undefined leaves it to find out. */
  readonly kind?: number | undefined
}

/** A control network in a session. Like UNets, those that project with 1×1 convolutions have eight heads everywhere. */
export function createControlNet(parts: ControlNetParts, services: FamilyServices): ControlModel {
  const { key, view, averaged, kind } = parts
  const { runtime, lower } = services
  const kinds = unionKinds(view)
  const { inChannels, contextWidth, vectorWidth, linearProjection } = readUnetConfig(view)
  const headsOf = linearProjection ? headsOfWidth64 : () => 8
  const session = runtime.session({
    key: `control net ${key}${averaged ? ' averaged' : ''}${kind === undefined ? '' : ` of kind ${kind}`}`,
    weightBytes: bytesOf(view),
    build: () => sourceOf(controlNetGraph(view, lower.network, { headsOf, averaged, kind })),
  })
  return {
    hintScale: 8,
    ...(kinds > 0 && {
      ofKind(wanted: number | undefined) {
        if (wanted === undefined || wanted < kinds) return createControlNet({ ...parts, kind: wanted }, services)
        const message = `the union control network knows ${kinds} kinds of hints, and number ${wanted + 1} is none of them`
        throw new WorkloadError('execution-failed', message)
      },
    }),
    async residuals(x, timesteps, { context, y }, hint) {
      checkHint(hint)
      const rows = tensor([timesteps.length], Float32Array.from(timesteps))
      const { middle, ...residuals } = await session.run({
        x: ofWidth(x, 1, inChannels, 'latent channels'),
        timesteps: rows,
        ...(contextWidth !== undefined && { context: ofWidth(context, 2, contextWidth, 'values a text token') }),
        ...(vectorWidth !== undefined && { y: ofWidth(y, 1, vectorWidth, 'values beside the timestep') }),
        hint,
      })
      return { output: Object.keys(residuals).map((_, i) => residuals[`output_${i}`]), middle }
    },
  }
}

/** Throws `execution-failed` unless the hint is a picture with red, green and blue. */
export function checkHint({ dims }: Tensor): void {
  if (dims[1] !== 3)
    throw new WorkloadError('execution-failed', `a hint of ${dims[1]} channels is not supported, only of 3`)
}

/** `input`, as wide along `axis` as the control network reads it; else it belongs to another kind of diffusion model. */
function ofWidth(input: Tensor | undefined, axis: number, width: number, what: string): Tensor {
  if (input?.dims[axis] === width) return input
  const given = input ? `has ${input.dims[axis]}` : 'has none'
  throw new WorkloadError(
    'execution-failed',
    `the control network is made for another kind of diffusion model: it takes ${width} ${what}, the model ${given}`,
  )
}
