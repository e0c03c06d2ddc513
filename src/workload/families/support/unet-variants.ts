import { downscale } from '../../architectures/downscale.ts'
import { freeU } from '../../architectures/free-u.ts'
import { type GraphResizeMethod, graphResizeMethods } from '../../architectures/graph-resize.ts'
import { hyperTile } from '../../architectures/hyper-tile.ts'
import type { UnetAlteration } from '../../architectures/unet.ts'
import { WorkloadError } from '../../base/errors.ts'
import type { Alteration, Downscale } from '../../model/alterations.ts'

/** What of `alterations` counts at noise level `sigma`; where the level is not known, none that asks for one does. */
export function alterationsAt(alterations: readonly Alteration[], sigma: number | undefined): readonly Alteration[] {
  return alterations.filter((each) => {
    if (each.kind !== 'downscale') return true
    return sigma !== undefined && sigma <= each.sigmas.start && sigma >= each.sigmas.end
  })
}

export const isDownscale = (alteration: Alteration): alteration is Downscale => alteration.kind === 'downscale'

/** Names the graph that a UNet has with `alterations`: equal names, equal graphs. Noise levels choose a graph and change none. */
export function variantName(alterations: readonly Alteration[], control: boolean): string {
  const named = alterations.map((each) => JSON.stringify({ ...each, sigmas: undefined }))
  return [...named, ...(control ? ['with control'] : [])].join(' ')
}

/** How a UNet's graph is to be changed for `alteration`. Throws `execution-failed` when it cannot be. */
export function unetAlteration(alteration: Alteration): UnetAlteration {
  switch (alteration.kind) {
    case 'freeU':
      return freeU(alteration)
    case 'hyperTile':
      return hyperTile(alteration)
    case 'downscale': {
      const { downscaleMethod, upscaleMethod, ...options } = alteration
      return downscale({
        ...options,
        downscaleMethod: graphMethod(downscaleMethod),
        upscaleMethod: graphMethod(upscaleMethod),
      })
    }
  }
}

function graphMethod(name: string): GraphResizeMethod {
  const method = graphResizeMethods.find((each) => each === name)
  if (method) return method
  const known = graphResizeMethods.join(', ')
  throw new WorkloadError('execution-failed', `inside a network ${name} is not supported: choose one of ${known}`)
}
