/** Deep enough for conditioning: a list of entries that hold tensors that hold arrays. */
const MAX_DEPTH = 6

/**
 * Estimates the bytes that a value on a wire keeps in memory: its numbers and texts, wherever they stand in it. Models
 * count as nothing here, for their weights are held and released by the runtime.
 */
export function valueBytes(value: unknown, depth = 0): number {
  if (ArrayBuffer.isView(value)) return value.byteLength
  if (typeof value === 'string') return value.length * 2
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return 8
  let bytes = 64
  for (const member of Object.values(value)) bytes += valueBytes(member, depth + 1)
  return bytes
}
