import { WorkloadError } from '../base/errors.ts'
import { createGraphOpener, type ExportedGraph } from '../runtime/exported-graph.ts'
import type { ProviderChoice } from '../runtime/provider.ts'
import { createDecodingRules } from './decode-rules.ts'
import type { SpeechModel } from './speech-model.ts'
import { readVocabulary } from './tokens.ts'
import { specialTokens } from './tokens-special.ts'
import { readWhisperConfig } from './whisper-config.ts'
import { createWhisperDecoder } from './whisper-decoder.ts'
import { findWhisperFiles } from './whisper-files.ts'
import { createWhisperModel } from './whisper-model.ts'

/** What the model runs on. */
export interface SpeechModelOptions extends ProviderChoice {
  /** The bytes of a graph with one operator, to try a provider with. */
  readonly probe: Uint8Array
}

/**
 * Opens the model in `folder`, a Whisper that was exported to ONNX. Throws `model-unavailable` with the names of the
 * files that are missing, `model-unsupported` when they are of another kind.
 */
export async function openSpeechModel(folder: string, options: SpeechModelOptions): Promise<SpeechModel> {
  const { files, missing } = await findWhisperFiles(folder)
  if (!files)
    throw new WorkloadError(
      'model-unavailable',
      `the speech model in ${folder} is not whole: missing are ${missing.join(', ')}`,
    )
  const config = await readWhisperConfig(files)
  const vocabulary = await readVocabulary(files)
  const special = specialTokens(config, vocabulary)
  const opener = await createGraphOpener(options, options.probe)
  const opened: ExportedGraph[] = []
  const open = async (name: string, path: string): Promise<ExportedGraph> => {
    const graph = await opener.open(name, path)
    opened.push(graph)
    return graph
  }
  const release = async (): Promise<void> => {
    for (const graph of opened.splice(0)) await graph.release()
  }
  try {
    const encoder = await open('the encoder of the speech model', files.encoder)
    const first = await open('the decoder of the speech model', (files.merged ?? files.decoder)!)
    const following =
      !files.merged && files.withPast ? await open('the decoder of the speech model', files.withPast) : undefined
    return createWhisperModel({
      config,
      vocabulary,
      special,
      decoder: createWhisperDecoder(config, first, following),
      rules: createDecodingRules(special, config),
      limit: Math.floor(config.context / 2),
      encode: async (features) => (await encoder.run({ input_features: features }))[encoder.outputs[0]!]!,
      release,
    })
  } catch (error) {
    await release()
    throw error
  }
}
