import {
  discreteSampling,
  edmSampling,
  flowSampling,
  fluxSampling,
} from '../../src/workload/sampling/model-sampling.ts'

/** The kinds of model the golden numbers were made for, by their names there. */
export const samplingModels = {
  eps: discreteSampling({ prediction: 'eps' }),
  v_zsnr: discreteSampling({ prediction: 'v', zeroTerminalSnr: true }),
  flow_shift3: flowSampling({ shift: 3, multiplier: 1000 }),
  flow_shift1_mult1: flowSampling({ shift: 1, multiplier: 1 }),
  'flux_1.15': fluxSampling({ shift: 1.15 }),
  edm: edmSampling({ prediction: 'edm', sigmaMin: 0.002, sigmaMax: 80, sigmaData: 0.5 }),
}

/** One of the golden numbers' model names. */
export type SamplingModelName = keyof typeof samplingModels
