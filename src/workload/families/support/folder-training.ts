import { WorkloadError } from '../../base/errors.ts'
import type { DiffusionModel, LatentFormat, ModelSampling } from '../../model/ports.ts'
import { discreteSampling, edmSampling } from '../../sampling/model-sampling.ts'
import { standardisedLatents } from '../../sampling/standardised-latents.ts'
import type { AutoencoderConfig, SchedulerConfig } from '../../weights/diffusers-config.ts'
import { scaledLatents } from './latent-format.ts'

/**
 * What the configuration files of a folder say of how its network was trained; what they leave out stays open. Latents
 * of the kind of `usual` may come in another scale and still have its colours.
 */
export function trainingIn(
  scheduler: SchedulerConfig | undefined,
  autoencoder: AutoencoderConfig | undefined,
  usual: LatentFormat,
): Partial<Pick<DiffusionModel, 'sampling' | 'latent'>> {
  const sampling = scheduler && samplingOf(scheduler)
  const latent = autoencoder && latentOf(autoencoder, usual)
  return { ...(sampling && { sampling }), ...(latent && { latent }) }
}

function samplingOf(config: SchedulerConfig): ModelSampling | undefined {
  const { _class_name: kind, prediction_type, sigma_min: sigmaMin, sigma_max: sigmaMax, sigma_data: sigmaData } = config
  if (/FlowMatch/.test(kind)) throw new WorkloadError('execution-failed', `the scheduler ${kind} is not supported`)
  if (prediction_type === undefined) return undefined
  if (prediction_type !== 'epsilon' && prediction_type !== 'v_prediction')
    throw new WorkloadError('execution-failed', `the prediction type ${prediction_type} is not supported`)
  const velocity = prediction_type === 'v_prediction'
  if (kind.startsWith('EDM')) return edmSampling({ prediction: velocity ? 'v' : 'edm', sigmaMin, sigmaMax, sigmaData })
  return discreteSampling({ prediction: velocity ? 'v' : 'eps', zeroTerminalSnr: config.rescale_betas_zero_snr })
}

function latentOf(config: AutoencoderConfig, { channels, colours }: LatentFormat): LatentFormat | undefined {
  const { scaling_factor: factor, latents_mean: means, latents_std: deviations } = config
  if (!factor) return undefined
  if (!means || !deviations) return scaledLatents(channels, factor, colours)
  return { ...standardisedLatents(means, deviations, factor), colours }
}
