import { emit, link, socket } from '../graph/node.ts'
import { pythonStr } from '../graph/python-repr.ts'
import type { TextArtifact } from '../image/images.ts'
import { asciiJson } from '../image/png-text.ts'
import { defineNode } from './support/define.ts'

/** Fits every wire. */
const ANY = socket<unknown>('*')

export default defineNode({
  type: 'PreviewAny',
  category: 'utils',
  title: 'Show Anything',
  description: 'Shows a value as text while a prompt runs; it is no part of the result.',
  module: 'comfy_extras.nodes_preview_any',
  inputs: { source: link(ANY) },
  outputs: [],
  output: true,
  run: ({ source }) => emit([{ kind: 'text', text: textOf(source), retention: 'temp' } satisfies TextArtifact]),
})

/** A value as Python prints it; lists and records as JSON, tensors by their shape, models by nothing but their kind. */
function textOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return pythonStr(value)
  if (ArrayBuffer.isView(value)) return value instanceof Float32Array ? `[${value.join(', ')}]` : 'data'
  if ('dims' in value && Array.isArray(value.dims)) return `tensor of shape [${value.dims.join(', ')}]`
  return isPlain(value) ? asciiJson(value) : 'object'
}

/** Whether JSON can say all of a value; what nests too deeply may run in circles. */
function isPlain(value: unknown, depth = 0): boolean {
  if (typeof value === 'function' || ArrayBuffer.isView(value) || depth > 32) return false
  return typeof value !== 'object' || value === null || Object.values(value).every((part) => isPlain(part, depth + 1))
}
