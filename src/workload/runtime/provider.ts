import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { messageOf, WorkloadError } from '../base/errors.ts'
import { type OnnxRuntime, openOnnxSession } from './onnx-session.ts'

/** Whether this installation has CUDA's provider library; asking ONNX Runtime for it in vain prints an error. */
function hasCudaLibrary(): boolean {
  const root = dirname(createRequire(import.meta.url).resolve('onnxruntime-node/package.json'))
  return existsSync(join(root, 'bin/napi-v6', process.platform, process.arch, 'libonnxruntime_providers_cuda.so'))
}

/** What sessions run on. */
export interface Provider {
  readonly name: 'cpu' | 'cuda'
  /** The CUDA device's number; 0 on the CPU. */
  readonly device: number
  /** Threads of one run on the CPU; 0 takes one a core. */
  readonly threads: number
}

export interface ProviderChoice {
  /** `auto` takes CUDA when its libraries load on this machine, else the CPU. */
  readonly wanted: 'auto' | 'cpu' | 'cuda'
  readonly device: number
  readonly threads: number
}

/**
 * Settles what sessions run on by opening a graph of one operator, `probe`.
 * Throws `not-ready` when CUDA is demanded and cannot be had: a silent fall back to the CPU would cost a fortune.
 */
export async function chooseProvider(
  ort: OnnxRuntime,
  { wanted, device, threads }: ProviderChoice,
  probe: Uint8Array,
): Promise<Provider> {
  const cpu: Provider = { name: 'cpu', device: 0, threads }
  if (wanted === 'cpu' || (wanted === 'auto' && !hasCudaLibrary())) return cpu
  const cuda: Provider = { name: 'cuda', device, threads }
  try {
    const session = await openOnnxSession(ort, { name: 'probe', bytes: probe }, cuda)
    await session.release()
    return cuda
  } catch (cause) {
    if (wanted === 'auto') return cpu
    throw new WorkloadError('not-ready', `CUDA device ${device} cannot be used: ${messageOf(cause)}`, { cause })
  }
}
