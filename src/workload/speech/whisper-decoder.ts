import { WorkloadError } from '../base/errors.ts'
import type { ExportedGraph, Held } from '../runtime/exported-graph.ts'
import { filled, type Tensor, tensor, zeros } from '../tensor/tensor.ts'
import type { WhisperConfig } from './whisper-config.ts'

/** How far a text is written; what comes next can be tried from it again and again. */
export interface DecoderState {
  /** `[1, tokens, vocabulary]`: what may follow each of the tokens that led here from the state before. */
  readonly logits: Tensor
}

interface Written extends DecoderState {
  readonly tokens: readonly number[]
  readonly encoded: Held
  /** Keys and values of the attentions, by the names of the inputs that take them. */
  readonly past: Readonly<Record<string, Held>>
}

/** The half of a Whisper that writes. */
export interface WhisperDecoder {
  /** After the tokens `prompt`, for what the encoder heard. */
  start(encoded: Held, prompt: readonly number[]): Promise<DecoderState>
  next(state: DecoderState, token: number): Promise<DecoderState>
  /**
   * How much each of `tokens` looked at each place of the encoder's output, `[1, heads, tokens, places]` a layer asked.
   * Undefined when the export does not tell: `cross_attentions` are among its outputs only if somebody asked for them.
   */
  readonly attentions:
    | ((encoded: Held, tokens: readonly number[], layers: readonly number[]) => Promise<ReadonlyMap<number, Tensor>>)
    | undefined
}

const KNOWN_INPUTS = /^(input_ids|encoder_hidden_states|use_cache_branch|cache_position|past_key_values\..+)$/

/**
 * A decoder over the graphs of an export: `first` without a past, alone (each step then reads all tokens anew) or with
 * `following` for the steps with one; or `first` that is both, merged, which its input `use_cache_branch` tells.
 */
export function createWhisperDecoder(
  config: WhisperConfig,
  first: ExportedGraph,
  following: ExportedGraph | undefined,
): WhisperDecoder {
  const merged = first.inputs.has('use_cache_branch')
  const continued = merged ? first : following
  for (const name of [...first.inputs.keys(), ...(continued?.inputs.keys() ?? [])])
    if (!KNOWN_INPUTS.test(name))
      throw new WorkloadError('model-unsupported', `the decoder of the speech model has an unknown input, ${name}`)
  if (!merged && [...first.inputs.keys()].some((name) => name.startsWith('past_')))
    throw new WorkloadError(
      'model-unsupported',
      'the decoder of the speech model takes a past, but not the lack of one',
    )

  const run = async (graph: ExportedGraph, state: Omit<Written, 'logits'>, from: number): Promise<Written> => {
    const feeds = { ...feedsOf(graph, config, state, from), ...(from > 0 && state.past) }
    const wanted = graph.outputs.filter((name) => name === 'logits' || (continued && isNews(name, from > 0)))
    const { logits, ...present } = await graph.run(feeds, wanted)
    const renamed = Object.entries(present).map(([name, value]) => [name.replace('present', 'past_key_values'), value])
    return { ...state, logits: logits!.read(), past: { ...state.past, ...Object.fromEntries(renamed) } }
  }

  return {
    start: (encoded, prompt) => run(first, { encoded, tokens: prompt, past: {} }, 0),
    async next(before, token) {
      const { tokens, encoded, past } = before as Written // all states come from here
      const state = { encoded, tokens: [...tokens, token], past }
      if (continued) return run(continued, state, tokens.length)
      const { logits, ...rest } = await run(first, state, 0)
      return { ...rest, logits: lastRow(logits) }
    },
    attentions: attentionsOf(config, first),
  }
}

/** Whether an output is to be kept: what the attentions over the audio need never changes after the first step. */
function isNews(output: string, continuing: boolean): boolean {
  return output.startsWith('present.') && !(continuing && output.includes('.encoder.'))
}

/** What `graph` takes for the tokens from the place `from` on, the past as if there were none. */
function feedsOf(
  { inputs }: ExportedGraph,
  { heads, headSize }: WhisperConfig,
  { tokens, encoded }: Pick<Written, 'tokens' | 'encoded'>,
  from: number,
): Readonly<Record<string, Tensor | Held>> {
  const given = tokens.slice(from)
  const feeds: Readonly<Record<string, Tensor | Held>> = {
    input_ids: tensor([1, given.length], Float32Array.from(given)),
    encoder_hidden_states: encoded,
    use_cache_branch: filled([1], Number(from > 0)),
    cache_position: tensor(
      [given.length],
      Float32Array.from(given, (_, i) => from + i),
    ),
  }
  return Object.fromEntries([...inputs.keys()].map((name) => [name, feeds[name] ?? zeros([1, heads, 0, headSize])]))
}

function lastRow(logits: Tensor): Tensor {
  const width = logits.dims[2]!
  return tensor([1, 1, width], logits.data.subarray(logits.data.length - width))
}

function attentionsOf(config: WhisperConfig, graph: ExportedGraph): WhisperDecoder['attentions'] {
  const outputOf = (layer: number): string => `cross_attentions.${layer}`
  if (!graph.outputs.includes(outputOf(config.layers - 1))) return undefined
  return async (encoded, tokens, layers) => {
    const outputs = await graph.run(feedsOf(graph, config, { tokens, encoded }, 0), layers.map(outputOf))
    return new Map(layers.map((layer) => [layer, outputs[outputOf(layer)]!.read()]))
  }
}
