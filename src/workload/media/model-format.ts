import { extname } from 'node:path'
import { WorkloadError } from '../base/errors.ts'
import { unescaped } from './unescaped.ts'

/** Formats that hold weights and nothing that runs. */
const weights = new Set(['.safetensors', '.sft', '.onnx'])
/** What lies beside weights. */
const companions = new Set(['.json', '.yaml', '.yml', '.txt'])
/** Python's pickles run code when they are opened. */
const pickles = new Set(['.ckpt', '.pt', '.pt2', '.pth', '.bin', '.pkl', '.pickle'])

/**
 * The extension of the model behind `url`, with its dot and in small letters. An address without one, as sites with
 * numbers for models have, stands for safetensors: what comes is looked at. Throws `model-unsupported`.
 */
export function modelExtension(url: string): string {
  const extension = extname(fileNameOf(url)).toLowerCase()
  if (/^\.\d*$|^$/.test(extension)) return '.safetensors'
  if (weights.has(extension)) return extension
  throw unsupported(extension)
}

/** Throws `model-unsupported` for a file name that nothing here could open, or that is not safe to open. */
export function checkModelName(name: string): void {
  const extension = extname(name).toLowerCase()
  if (!weights.has(extension) && !companions.has(extension)) throw unsupported(extension)
}

/** The last segment of a URL's path with its escapes resolved, or as it is when they are broken; may be empty. */
export function fileNameOf(url: string): string {
  const [, rest = ''] = /^s3:\/\/[^/]*(\/.*)$/is.exec(url) ?? []
  const segment = (rest === '' ? new URL(url).pathname : rest).split('/').at(-1)!
  if (rest !== '') return segment // a key is literal
  return unescaped(segment)
}

/** Throws `model-unsupported` when a file does not begin as one with `extension` does. */
export function admitModel(extension: string, head: Uint8Array): void {
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.byteLength)
  if (extension === '.onnx' || bytes.length < 9) return
  // The length of the header, then the header, which is JSON.
  if (bytes.readBigUInt64LE() > 2n ** 32n || bytes[8] !== 0x7b)
    throw new WorkloadError('model-unsupported', 'the URL holds no safetensors file')
}

function unsupported(extension: string): WorkloadError {
  const kind = pickles.has(extension)
    ? `${extension} files may run code when they are opened and are not fetched`
    : `${extension === '' ? 'files without an extension' : `${extension} files`} are no models that can be opened`
  return new WorkloadError('model-unsupported', `${kind}: name a .safetensors, .sft or .onnx file`)
}
