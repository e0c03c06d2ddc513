import { WorkloadError } from '../../base/errors.ts'
import type { Checkpoint } from '../../model/ports.ts'
import type { SafetensorsFile } from '../../weights/safetensors.ts'
import { checkpointWeights } from './checkpoint-file.ts'
import { describeFile, foreignKind } from './describe-file.ts'
import type { CheckpointWeights, Family, FamilyServices } from './family.ts'
import { inFamily } from './in-family.ts'

/** A checkpoint in one file. Rejects with `execution-failed` when no family knows it. */
export async function openCheckpoint(
  file: SafetensorsFile,
  name: string,
  families: ReadonlyMap<string, Family>,
  services: FamilyServices,
): Promise<Checkpoint> {
  const weights = foreignKind(file) === undefined ? checkpointWeights(file) : undefined
  const family = weights && familyOf(weights, families)
  if (family) return family.open(weights, inFamily(services, family.name))
  throw unknownModel(file, name, families)
}

/** The family that recognises the network of `weights`. */
export function familyOf({ network }: CheckpointWeights, families: ReadonlyMap<string, Family>): Family | undefined {
  return [...families.values()].find((each) => each.matches(network))
}

/** The fault of a file that no family knows, with what can be told of it. */
export function unknownModel(
  file: SafetensorsFile,
  name: string,
  families: ReadonlyMap<string, Family>,
): WorkloadError {
  return new WorkloadError(
    'execution-failed',
    `${name} is of no model family known here (${[...families.keys()].join(', ')}): ${describeFile(file)}`,
  )
}
