import { WorkloadError } from '../../base/errors.ts'
import type { ControlModel } from '../../model/control.ts'
import { controlNetView, t2iAdapterView } from '../../weights/control-layout.ts'
import type { SafetensorsFile } from '../../weights/safetensors.ts'
import { keyOf } from './checkpoint-file.ts'
import { createControlNet } from './control-net.ts'
import { describeFile } from './describe-file.ts'
import type { FamilyServices } from './family.ts'
import { createT2iAdapter } from './t2i-adapter.ts'

/** Tensors by whose names control networks of other kinds are known, and what they are. */
const kinds: readonly (readonly [name: RegExp, kind: string])[] = [
  [/^lora_controlnet$/, 'a control LoRA, which needs the diffusion model that it changes'],
  [/^difference$/, 'a difference control network, which needs the diffusion model that it changes'],
  [/^(transformer_blocks|controlnet_blocks|controlnet_x_embedder)\./, 'a control network for diffusion transformers'],
  [/^(double_blocks|joint_blocks|controlnet_mlp)\./, 'a control network for diffusion transformers'],
  [/^backbone\.0\.0\./, 'a Stable Cascade control network'],
  [/^(control_(stages|blocks)|ctrl_)/, 'a small control network of its own kind (ControlNet-XS, LLLite)'],
]

/** A control network or T2I adapter. Throws `execution-failed` that says what else the file is. */
export function openControlNet(file: SafetensorsFile, name: string, services: FamilyServices): ControlModel {
  const refuse = (kind: string): never => {
    throw new WorkloadError('execution-failed', `${name} is not supported: it is ${kind}`)
  }
  const names = [...file.tensors.keys()]
  const foreign = kinds.find(([pattern]) => names.some((each) => pattern.test(each)))
  if (foreign) return refuse(foreign[1])
  const key = keyOf(file)
  const network = controlNetView(file)
  // The reference knows networks whose hint is shuffled, so that places mean nothing, by the names of their files.
  if (network)
    return createControlNet({ key, view: network, averaged: /_shuffle(_fp16)?\.[^.]+$/.test(name) }, services)
  const adapter = t2iAdapterView(file)
  if (adapter) return createT2iAdapter({ key, view: adapter }, services)
  return refuse(`${describeFile(file)}, not a control network`)
}
