import { WorkloadError } from '../../base/errors.ts'
import type { Session, Tensors } from '../../runtime/session.ts'
import { type Tensor, tensor } from '../../tensor/tensor.ts'
import { type ClipExport, type ClipReading, type ClipSize, chunksFor, clipKinds } from './clip-text-model.ts'
import type { FamilyServices } from './family.ts'
import { CHUNK_LENGTH, type Chunk } from './token-chunks.ts'
import { encodeWeighted } from './weighted-encoding.ts'

/**
 * A CLIP text transformer that was exported as ONNX under the names of transformers; `name` is for errors. It takes
 * token numbers only and gives the layers that its export kept: the last behind its norm, and others if they are there.
 */
export function onnxTextModel(session: Session, name: string, services: FamilyServices): ClipExport {
  const fault = (what: string) => new WorkloadError('execution-failed', `${name} is an ONNX network, which ${what}`)
  return {
    open(size, patches) {
      if (patches.length > 0) throw fault('a LoRA or a merge cannot be applied to: use the model in safetensors')
      return {
        chunksOf: chunksFor(size, services),
        encode: (chunks, reading) =>
          encodeWeighted(chunks, clipKinds[size].pad, async (rows) => {
            const outputs = await session.run({ input_ids: idsOf(rows, fault) })
            const hidden = hiddenOf(outputs, size, reading)
            if (!hidden) throw fault(`does not give layer ${reading.layer} from the end`)
            const { text_embeds, pooler_output } = outputs
            const pooled = reading.pooled === 'projected' ? (text_embeds ?? pooler_output) : pooler_output
            return { hidden, pooled }
          }),
      }
    },
  }
}

function idsOf(rows: readonly Chunk[], fault: (what: string) => WorkloadError): Tensor {
  const ids = rows.flatMap((row) =>
    row.map((token) => {
      if ('id' in token) return token.id
      throw fault('takes no embeddings: use the model in safetensors')
    }),
  )
  return tensor([rows.length, CHUNK_LENGTH], Float32Array.from(ids))
}

/** Layer 0 is what goes into the first block. */
const stateOf = (outputs: Tensors, layer: number): Tensor | undefined => outputs[`hidden_states.${layer}`]

function hiddenOf(outputs: Tensors, size: ClipSize, { layer, normed }: ClipReading): Tensor | undefined {
  const { last_hidden_state } = outputs
  let layers = 0
  while (stateOf(outputs, layers + 1)) layers++
  const known = layer < 0 && (layers === 0 || -layer <= layers)
  if (!known) return last_hidden_state
  // Exports of OpenCLIP-H leave its last layer out, so that the one before is the last they have.
  if (normed) return layer === (size === 'h' ? -2 : -1) ? last_hidden_state : undefined
  return stateOf(outputs, layers + 1 + layer)
}
