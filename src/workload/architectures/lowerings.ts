import type { LoweringFor } from './lowering.ts'
import { cpuLowering } from './lowering-cpu.ts'
import { cudaLowering } from './lowering-cuda.ts'

/** What a graph will run on. */
export type Device = 'cpu' | 'cuda'

/** For diffusion networks: float32 on the CPU, float16 on CUDA. */
export function networkLowering(device: Device): LoweringFor {
  return device === 'cpu' ? cpuLowering : (name, view) => cudaLowering(name, view, 'float16')
}

/** For text encoders: float32 everywhere, over weights that were rounded to float16 first as the reference does. */
export const textEncoderLowering: LoweringFor = (name, view, options) => cpuLowering(name, view, options, 'float16')

/** For autoencoders: float32 everywhere, since float16 overflows in the decoders of Stable Diffusion 1 and SDXL. */
export function autoencoderLowering(device: Device): LoweringFor {
  return device === 'cpu' ? cpuLowering : (name, view) => cudaLowering(name, view, 'float32')
}
