import { WorkloadError } from '../../base/errors.ts'
import type { Checkpoint } from '../../model/ports.ts'
import type { SafetensorsFile } from '../../weights/safetensors.ts'
import { checkpointWeights } from './checkpoint-file.ts'
import type { CheckpointWeights, Family, FamilyServices } from './family.ts'

/** A checkpoint in one file. Throws `execution-failed` when no family knows it. */
export function openCheckpoint(
  file: SafetensorsFile,
  name: string,
  families: ReadonlyMap<string, Family>,
  services: FamilyServices,
): Checkpoint {
  const weights = checkpointWeights(file)
  const family = weights && familyOf(weights, families)
  if (family) return family.open(weights, services)
  throw new WorkloadError(
    'execution-failed',
    `${name} is of no model family known here (${[...families.keys()].join(', ')}): ${describe(file, weights)}`,
  )
}

/** The family that recognises the network of `weights`. */
export function familyOf({ network }: CheckpointWeights, families: ReadonlyMap<string, Family>): Family | undefined {
  return [...families.values()].find((each) => each.matches(network))
}

/** What can be told of a file that nothing recognises. */
function describe(file: SafetensorsFile, weights: CheckpointWeights | undefined): string {
  const input = weights?.network.get('input_blocks.0.0.weight')
  if (input) return `a UNet of ${input.dims[0]} channels over ${input.dims[1]} latent channels`
  return `${file.tensors.size} tensors, the first ${[...file.tensors.keys()].slice(0, 3).join(', ')}`
}
