import { join } from 'node:path'
import type { LoweringFor } from '../../src/workload/architectures/lowering.ts'
import { cpuLowering } from '../../src/workload/architectures/lowering-cpu.ts'
import { cudaLowering } from '../../src/workload/architectures/lowering-cuda.ts'
import { openSafetensors, type SafetensorsFile } from '../../src/workload/weights/safetensors.ts'
import { viewOf, type WeightView } from '../../src/workload/weights/weight-view.ts'
import { emulateCuda } from './emulate-cuda.ts'
import { emptyFolder } from './folder.ts'
import { goldenModels, goldenWeight } from './golden-models.ts'
import { writeSafetensors } from './safetensors.ts'

/** A real file of tensors of these names and shapes, their values by the goldens' rule. */
export async function fileOf(
  shapes: Readonly<Record<string, readonly number[]>>,
  name = 'golden.safetensors',
  folder?: string,
): Promise<string> {
  const tensors = Object.entries(shapes).map(([key, dims]) => [key, { dims, data: goldenWeight(key, dims) }] as const)
  return writeSafetensors(join(folder ?? (await emptyFolder()), name), Object.fromEntries(tensors))
}

/** The weights of a golden network, in a real file that is there for one test, or as long as its folder is. */
export const fileOfGolden = async (name: string, folder?: string): Promise<SafetensorsFile> =>
  openSafetensors(await fileOf(goldenModels[name]!.keys, `${name}.safetensors`, folder))

export const viewOfGolden = async (name: string, folder?: string): Promise<WeightView> =>
  viewOf(await fileOfGolden(name, folder), '')

const exactCuda: LoweringFor = (name, view) => cudaLowering(name, view, 'float32')
const asItIs = (bytes: Uint8Array): Uint8Array => bytes

/** The CUDA graphs run here with their own operators rewritten; their speed and float16 need the device. */
export const lowerings = [
  ['for the CPU', cpuLowering, asItIs],
  ['for CUDA', exactCuda, emulateCuda],
] as const
