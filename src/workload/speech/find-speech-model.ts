import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ifThere } from '../base/if-there.ts'
import { findWhisperFiles } from './whisper-files.ts'

/** Where under the folder of models speech models lie, each in a folder of its own. */
const FOLDER = 'whisper'

/** The first folder (by name) under `{modelDir}/whisper` that has all the files of a model; undefined when none has. */
export async function findSpeechModel(modelDir: string): Promise<string | undefined> {
  const home = join(modelDir, FOLDER)
  const folders = (await ifThere(readdir(home, { withFileTypes: true }))) ?? []
  const names = folders.flatMap((each) => (each.isDirectory() || each.isSymbolicLink() ? [each.name] : [])).sort()
  for (const name of names)
    if ((await findWhisperFiles(join(home, name))).missing === undefined) return join(home, name)
  return undefined
}

/** What an operator must put where before speech can be written down. */
export function whatToInstall(modelDir: string): string {
  return (
    `put a Whisper model that was exported to ONNX (as by Optimum, or from onnx-community) into a folder of any name in ` +
    `${join(modelDir, FOLDER)}: encoder_model.onnx and decoder_model_merged.onnx (or decoder_model.onnx, with or without ` +
    'decoder_with_past_model.onnx), there or in its sub-folder onnx, with the files of their external data if they have ' +
    'any; and config.json, generation_config.json, preprocessor_config.json, and tokenizer.json (or vocab.json with ' +
    'added_tokens.json)'
  )
}
