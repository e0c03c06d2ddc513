import type { LoweringFor } from '../../architectures/lowering.ts'
import type { Keep } from '../../base/keep.ts'
import type { Checkpoint } from '../../model/ports.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import type { SharedTensors } from '../../runtime/session.ts'
import type { Weight, WeightView } from '../../weights/weight-view.ts'
import type { ClipTokenizer } from './clip-tokenizer.ts'
import type { Embeddings } from './embeddings.ts'

/** What every family builds with; made once an engine process. */
export interface FamilyServices {
  readonly runtime: Runtime
  /** Graph operators for the runtime's device; text encoders are rounded to half precision first. */
  readonly lower: {
    readonly network: LoweringFor
    readonly textEncoder: LoweringFor
    readonly autoencoder: LoweringFor
  }
  tokenizer(): Promise<ClipTokenizer>
  readonly embeddings: Embeddings
  /** Keeps what is handed to the slots of resident networks. */
  readonly slotTensors: Keep<SharedTensors>
  /**
   * Networks of fewer bytes have no slots: they would cost a good part of a step, and such a network is quickly opened
   * anew.
   */
  readonly slottedFrom: number
  /** Told which layers of a LoRA file no part of the model has, by its name; they are passed over. */
  onUnknownLayers(file: string, layers: readonly string[]): void
  /** Told the name of an embedding that a prompt wants and no file has; the prompt goes on without it. */
  onMissingEmbedding(name: string): void
}

/** CLIP text transformers under the Hugging Face names behind `text_model.`, with `text_projection` beside them. */
export interface TextWeights {
  readonly l?: WeightView | undefined
  readonly g?: WeightView | undefined
  readonly h?: WeightView | undefined
}

/** The parts of a checkpoint under the names architectures know, wherever and in whatever layout they are stored. */
export interface CheckpointWeights {
  /** Which files these are, and changes when one is replaced: equal keys share sessions. */
  readonly key: string
  /** The diffusion network under LDM names (`input_blocks.0.0.weight`). */
  readonly network: WeightView
  readonly text: TextWeights
  /** The KL autoencoder under LDM names. */
  readonly autoencoder: WeightView | undefined
  /** Tensors beside the parts, which say how the network was trained (`v_pred`, `edm_vpred.sigma_max` …). */
  readonly marks: ReadonlyMap<string, Weight>
}

/** A kind of diffusion model, recognised by the names and shapes of its network's weights. One file or folder each. */
export interface Family {
  readonly name: string
  /** Told by the structure of the network, whatever its width. No two families know the same network. */
  matches(network: WeightView): boolean
  /** No network is loaded yet: each part opens at its first use. */
  open(weights: CheckpointWeights, services: FamilyServices): Checkpoint | Promise<Checkpoint>
}
