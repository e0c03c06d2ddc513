import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { WorkloadError } from '../../base/errors.ts'
import { ifThere } from '../../base/if-there.ts'
import type { Checkpoint, DiffusionModel, Network, TextEncoder, Vae } from '../../model/ports.ts'
import type { Session } from '../../runtime/session.ts'
import { discreteSampling } from '../../sampling/model-sampling.ts'
import { tensor } from '../../tensor/tensor.ts'
import { readAutoencoderConfig, readSchedulerConfig, readTextActivation } from '../../weights/diffusers-config.ts'
import { type OnnxAxes, readOnnxInputs } from '../../weights/onnx-inputs.ts'
import {
  createRefinerTextEncoder,
  createSd1TextEncoder,
  createSd2TextEncoder,
  createSdxlTextEncoder,
} from './clip-text-encoder.ts'
import type { FamilyServices } from './family.ts'
import { trainingIn } from './folder-training.ts'
import { createOnnxNetwork } from './onnx-network.ts'
import { onnxTextModel } from './onnx-text-model.ts'
import { createOnnxVae } from './onnx-vae.ts'
import { sdModel } from './sd-model.ts'
import { refinerModel, sdxlModel } from './sdxl-model.ts'
import type { Describe } from './size-vector.ts'

/** A folder whose networks are exported as ONNX. */
export interface OnnxFolder {
  readonly path: string
  /** Equal keys share sessions. */
  readonly key: string
  /** For errors. */
  readonly name: string
}

/** Which family an exported UNet is of, which its inputs tell. */
type Kind = 'sd1' | 'sd2' | 'sdxl' | 'refiner'

/** The inputs that are known here; an export may have others, which change what it computes. */
const KNOWN_INPUTS = ['sample', 'timestep', 'encoder_hidden_states', 'text_embeds', 'time_ids']

/** The widest text that is CLIP-L's, as Stable Diffusion 1 takes it; 2 takes OpenCLIP-H's 1024. */
const CLIP_L_WIDTH = 768

/** Numbers that SDXL is told of a picture; its refiner is told one less. */
const SDXL_NUMBERS = 6

/** Networks exported by diffusers or Optimum: a sub-folder each with a `model.onnx`, and its data beside it. */
export async function openOnnxFolder(folder: OnnxFolder, services: FamilyServices): Promise<Checkpoint> {
  const inputs = await readOnnxInputs(join(folder.path, 'unet', 'model.onnx'))
  const foreign = [...inputs.keys()].find((name) => !KNOWN_INPUTS.includes(name))
  if (foreign)
    throw new WorkloadError(
      'execution-failed',
      `the UNet of ${folder.name} has an input ${foreign}, which is not known`,
    )
  const parts = new Map<string, Session>()
  for (const part of ['text_encoder', 'text_encoder_2', 'vae_decoder', 'vae_encoder']) {
    const session = await sessionIn(folder, part, services)
    if (session) parts.set(part, session)
  }
  const unet = await sessionIn(folder, 'unet', services, ['timestep'])
  const kind = kindOf(inputs, await readTextActivation(folder.path, 'text_encoder'))
  const inChannels = inputs.get('sample')?.[1] ?? 4
  const model = modelOf(kind, createOnnxNetwork(unet!, folder.name), inChannels) // its inputs were just read
  const scheduler = await readSchedulerConfig(folder.path)
  const autoencoder = await readAutoencoderConfig(folder.path, 'vae_decoder')
  return {
    model: { ...model, ...trainingIn(scheduler, autoencoder, model.latent) },
    clip: textEncoderOf(kind, parts, folder.name, services),
    vae: vaeOf(parts, folder.name, model.latent.channels, autoencoder?.block_out_channels?.length ?? 4),
  }
}

/** The session of a sub-folder's network, or undefined when it has none. */
async function sessionIn(
  { path, key, name }: OnnxFolder,
  part: string,
  { runtime }: FamilyServices,
  once: readonly string[] = [],
): Promise<Session | undefined> {
  const folder = join(path, part)
  const files = await ifThere(readdir(folder))
  if (!files?.includes('model.onnx')) return undefined
  const sizes = await Promise.all(
    files.filter((file) => !file.endsWith('.json')).map(async (file) => (await stat(join(folder, file))).size),
  )
  const source = { name: `${name}/${part}`, path: join(folder, 'model.onnx'), ...(once.length > 0 && { once }) }
  return runtime.session({
    key: `${part} ${key}`,
    isStep: part === 'unet',
    weightBytes: sizes.reduce((sum, size) => sum + size, 0),
    build: async () => source,
  })
}

/** The inputs tell; of the first two families, the activation of their text encoders tells more surely. */
function kindOf(inputs: ReadonlyMap<string, OnnxAxes>, activation: string | undefined): Kind {
  if (inputs.has('time_ids')) return (inputs.get('time_ids')?.[1] ?? SDXL_NUMBERS) < SDXL_NUMBERS ? 'refiner' : 'sdxl'
  if (activation !== undefined) return activation === 'quick_gelu' ? 'sd1' : 'sd2'
  return (inputs.get('encoder_hidden_states')?.[2] ?? CLIP_L_WIDTH) > CLIP_L_WIDTH ? 'sd2' : 'sd1'
}

/** Exported networks turn the numbers into sinusoids themselves. */
const asNumbers: Describe = (pooled, numbers) => {
  if (!pooled)
    throw new WorkloadError('execution-failed', 'the conditioning has no pooled vector, which this model needs')
  return { text_embeds: pooled, time_ids: tensor([1, numbers.length], Float32Array.from(numbers)) }
}

function modelOf(kind: Kind, network: Network, inChannels: number): DiffusionModel {
  const parts = { network, inChannels, sampling: discreteSampling({ prediction: 'eps' }), describe: asNumbers }
  return kind === 'sdxl' ? sdxlModel(parts) : kind === 'refiner' ? refinerModel(parts) : sdModel(parts)
}

function textEncoderOf(
  kind: Kind,
  parts: ReadonlyMap<string, Session>,
  name: string,
  services: FamilyServices,
): TextEncoder | undefined {
  const source = (part: string) => {
    const session = parts.get(part)
    return session && onnxTextModel(session, `${name}/${part}`, services)
  }
  const [first, second] = [source('text_encoder'), source('text_encoder_2')]
  if (kind === 'sdxl') return first && second && createSdxlTextEncoder({ l: first, g: second }, services)
  if (kind === 'refiner') return second && createRefinerTextEncoder(second, services)
  return first && (kind === 'sd1' ? createSd1TextEncoder(first, services) : createSd2TextEncoder(first, services))
}

function vaeOf(parts: ReadonlyMap<string, Session>, name: string, channels: number, levels: number): Vae | undefined {
  const decoder = parts.get('vae_decoder')
  const downscale = 2 ** (levels - 1)
  return decoder && createOnnxVae({ decoder, encoder: parts.get('vae_encoder'), downscale, channels, name })
}
