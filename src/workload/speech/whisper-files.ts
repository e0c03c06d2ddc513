import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ifThere } from '../base/if-there.ts'

/** Where the parts of a model lie. */
export interface WhisperFiles {
  readonly encoder: string
  /** One of them, or the first and the third together; `merged` is taken where it is there. */
  readonly decoder: string | undefined
  readonly merged: string | undefined
  readonly withPast: string | undefined
  readonly config: string
  readonly generation: string | undefined
  readonly preprocessor: string | undefined
  readonly tokenizer: string | undefined
  readonly vocabulary: string | undefined
  readonly addedTokens: string | undefined
}

/** What lies in a folder: a whole model, or what is missing to one. */
export type Inventory =
  | { readonly files: WhisperFiles; readonly missing?: undefined }
  | { readonly files?: undefined; readonly missing: readonly string[] }

/** What names of graphs end with, by how exact their weights are: the first that is there is taken. */
const PRECISIONS = ['', '_fp16', '_quantized', '_int8', '_uint8', '_q4f16', '_q4']

/** Looks for the files of an exported Whisper in `folder` and in `onnx` under it, where some put the graphs. */
export async function findWhisperFiles(folder: string): Promise<Inventory> {
  const names = new Set<string>()
  for (const part of ['', 'onnx'])
    for (const name of (await ifThere(readdir(join(folder, part)))) ?? []) names.add(join(part, name))
  const find = (...wanted: readonly string[]): string | undefined => {
    const name = wanted.flatMap((each) => [each, join('onnx', each)]).find((each) => names.has(each))
    return name && join(folder, name)
  }
  const findGraph = (name: string): string | undefined => find(...PRECISIONS.map((each) => `${name}${each}.onnx`))
  const encoder = findGraph('encoder_model')
  const decoder = findGraph('decoder_model')
  const merged = findGraph('decoder_model_merged')
  const config = find('config.json')
  const tokenizer = find('tokenizer.json')
  const vocabulary = find('vocab.json')
  const missing = [
    ...(encoder ? [] : ['encoder_model.onnx']),
    ...(merged || decoder ? [] : ['decoder_model_merged.onnx (or decoder_model.onnx)']),
    ...(config ? [] : ['config.json']),
    ...(tokenizer || vocabulary ? [] : ['tokenizer.json (or vocab.json with added_tokens.json)']),
  ]
  if (!encoder || !config || missing.length > 0) return { missing }
  return {
    files: {
      encoder,
      decoder,
      merged,
      withPast: findGraph('decoder_with_past_model'),
      config,
      generation: find('generation_config.json'),
      preprocessor: find('preprocessor_config.json'),
      tokenizer,
      vocabulary,
      addedTokens: find('added_tokens.json'),
    },
  }
}
