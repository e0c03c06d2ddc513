import type { ConcatPicture, ConditioningEntry } from '../../model/conditioning.ts'
import type { InputRequest, LatentFormat, ModelInputs } from '../../model/ports.ts'
import { joinChannels } from '../../tensor/channels.ts'
import { resized } from '../../tensor/resize.ts'
import { roundHalfEven } from '../../tensor/round.ts'
import { repeatRows, rowsOf } from '../../tensor/rows.ts'
import { filled, mapped, reshaped, type Tensor, zeros } from '../../tensor/tensor.ts'
import { INPAINTING_CHANNELS, INSTRUCTED_CHANNELS } from './unet-structure.ts'

/** What mid-grey is in latents of Stable Diffusion, in the network's scale: shown where all is to be drawn anew. */
const GREY = [0.8223, -0.6876, 0.6364, 0.138]

/** What a network of four latent channels and so many inputs is shown beside the noisy picture. */
export interface PictureInputs {
  readonly inChannels: number
  readonly latent: LatentFormat
  /** Whether instruction networks see their picture in the network's scale rather than the autoencoder's. */
  readonly scalesInstructed?: boolean
}

/** `concat` `[N, inChannels - 4, height, width]` for `entry`, or nothing for a plain network. */
export function pictureInputs(
  { inChannels, latent, scalesInstructed = false }: PictureInputs,
  { concat }: ConditioningEntry,
  request: InputRequest,
): ModelInputs {
  if (inChannels === INPAINTING_CHANNELS) return { concat: inpainted(latent, concat, request) }
  if (inChannels !== INSTRUCTED_CHANNELS) return {}
  const { height, width } = request
  const shown = concat ? fitted(concat.latent, request) : zeros([1, latent.channels, height, width])
  return { concat: scalesInstructed ? latent.processIn(shown) : shown }
}

/**
 * The mask, rounded, and the picture: those of the entry or, where it has none, those of the run. Without any mask all
 * is drawn anew, whatever the picture.
 */
function inpainted(format: LatentFormat, concat: ConcatPicture | undefined, request: InputRequest): Tensor {
  const { height, width, latent, noiseMask } = request
  const given = concat?.mask ?? noiseMask
  const picture = concat ? fitted(format.processIn(concat.latent), request) : latent
  if (!given || !picture) return joinChannels(filled([1, 1, height, width], 1), grey(height, width))
  const mask = mapped(fitted(planes(given), request), roundHalfEven)
  const rows = Math.max(rowsOf(mask), rowsOf(picture))
  return joinChannels(repeatRows(mask, rows), picture)
}

/** `[N, H, W]` or `[N, 1, H, W]` → `[N, 1, H, W]` */
function planes(mask: Tensor): Tensor {
  const [height = 1, width = 1] = mask.dims.slice(-2)
  return reshaped(mask, [mask.data.length / (height * width), 1, height, width])
}

/** `[N, C, H, W]` at the size of the run's latents. */
function fitted(t: Tensor, { height, width }: InputRequest): Tensor {
  if (t.dims[2] === height && t.dims[3] === width) return t
  return resized(t, width, height, 'bilinear', 'center')
}

/** `[1, 4, height, width]` */
function grey(height: number, width: number): Tensor {
  const area = height * width
  return mapped(zeros([1, GREY.length, height, width]), (_, i) => GREY[Math.floor(i / area)]!)
}
