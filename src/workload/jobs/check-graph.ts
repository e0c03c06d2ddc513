import type { Prompt } from '../../contracts/prompt.ts'
import type { InputOptions, TakeInputs, TakenInputs } from '../media/inputs.ts'
import type { Faults } from './faults.ts'
import { checkPrefixes } from './file-prefix.ts'
import type { Declarations, ValidPrompt } from './ports.ts'

/** What it takes to check a graph. */
export interface GraphChecks {
  readonly declarations: Pick<Declarations, 'validate'>
  readonly takeInputs: TakeInputs
}

/** A prompt that may run, and the hold on the shared files it needs. */
export type CheckedGraph = ValidPrompt & Pick<TakenInputs, 'release'>

/** Takes in the inputs of a prompt and validates it, or what `targets` need of it; throws all that was found so far. */
export async function checkGraph(
  prompt: Prompt,
  inputs: InputOptions,
  faults: Faults,
  { declarations, takeInputs }: GraphChecks,
  targets?: readonly string[],
): Promise<CheckedGraph> {
  await faults.of(() => checkPrefixes(prompt))
  const taken = await faults.of(() => takeInputs(prompt, inputs))
  // Without its pictures a graph would be told to lack files that it has.
  const files = taken && { inputs: inputs.folder, assumed: taken.assumed }
  const valid = files && (await faults.of(() => declarations.validate(taken.prompt, files, targets)))
  const error = faults.merged()
  if (!error) return { ...valid!, release: taken!.release }
  taken?.release()
  throw error
}
