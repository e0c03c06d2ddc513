import type { DiffusionModel } from '../../model/ports.ts'
import type { SafetensorsFile } from '../../weights/safetensors.ts'
import type { Family, FamilyServices } from './family.ts'
import { openCheckpoint } from './open-checkpoint.ts'

/** The diffusion network of a file that may hold nothing else. Throws `execution-failed` when no family knows it. */
export async function openDiffusionModel(
  file: SafetensorsFile,
  name: string,
  families: ReadonlyMap<string, Family>,
  services: FamilyServices,
): Promise<DiffusionModel> {
  return (await openCheckpoint(file, name, families, services)).model
}
