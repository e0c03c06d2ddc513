import type { LoweringFor } from '../../architectures/lowering.ts'
import type { Checkpoint } from '../../model/ports.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import type { SafetensorsFile } from '../../weights/safetensors.ts'
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
  /** Told the name of an embedding that a prompt wants and no file has; the prompt goes on without it. */
  onMissingEmbedding(name: string): void
}

/** A kind of checkpoint, recognised by the names and shapes of its tensors. One file or folder each. */
export interface Family {
  readonly name: string
  matches(file: SafetensorsFile): boolean
  /** Nothing is loaded yet: each part opens at its first use. */
  open(file: SafetensorsFile, services: FamilyServices): Checkpoint
}
