import { type Tensor, tensor } from './tensor.ts'

/** How many rows (entries of the first axis) a tensor has. */
export function rowsOf(t: Tensor): number {
  return t.dims[0] ?? 1
}

/** `[N, …]` → `[to - from, …]`, without copying: the result reads the same memory. */
export function takeRows(t: Tensor, from: number, to: number): Tensor {
  const stride = t.data.length / rowsOf(t)
  return tensor([to - from, ...t.dims.slice(1)], t.data.subarray(from * stride, to * stride))
}

/** `[N1, …], [N2, …]` → `[count, …]`: one below the other, the last row repeated until there are `count`. */
export function stackRows(parts: readonly Tensor[], count: number): Tensor {
  const last = parts.at(-1)!
  const stride = last.data.length / rowsOf(last)
  const data = new Float32Array(count * stride)
  let at = 0
  for (const part of parts) {
    data.set(part.data, at)
    at += part.data.length
  }
  const row = last.data.subarray(last.data.length - stride)
  for (; at < data.length; at += stride) data.set(row, at)
  return tensor([count, ...last.dims.slice(1)], data)
}

/** `[N, …]` cut or repeated cyclically to `count` rows. */
export function repeatRows(t: Tensor, count: number): Tensor {
  const rows = rowsOf(t)
  if (rows === count) return t
  const parts = Array.from({ length: count }, (_, i) => takeRows(t, i % rows, (i % rows) + 1))
  return stackRows(parts, count)
}
