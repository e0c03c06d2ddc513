import type { Prompt } from '../../contracts/prompt.ts'
import type { Faults } from './faults.ts'
import { checkPrefixes } from './file-prefix.ts'
import type { Declarations, ValidPrompt } from './ports.ts'

/** What it takes to check a graph. */
export interface GraphChecks {
  readonly declarations: Pick<Declarations, 'validate'>
  /** Stores the pictures that stand in a prompt in base64 in `folder`, and puts their names in their place. */
  storeMedia(prompt: Prompt, folder: string): Promise<Prompt>
}

/**
 * Takes in the pictures of a prompt, which lie in `inputs` then, and validates it, or what `targets` need of it; throws
 * all that was found so far.
 */
export async function checkGraph(
  prompt: Prompt,
  inputs: string,
  faults: Faults,
  { declarations, storeMedia }: GraphChecks,
  targets?: readonly string[],
): Promise<ValidPrompt> {
  await faults.of(() => checkPrefixes(prompt))
  const stored = await faults.of(() => storeMedia(prompt, inputs))
  // Without its pictures a graph would be told to lack files that it has.
  const valid = stored && (await faults.of(() => declarations.validate(stored, inputs, targets)))
  const error = faults.merged()
  if (error) throw error
  return valid!
}
