import { filled, type Tensor } from '../../src/workload/tensor/tensor.ts'
import { added, drawn, type Matrix, matrix, product, scalar } from './lora-files.ts'
import type { Weights } from './random-checkpoints.ts'

/** A linear layer and a convolution of the tiny Stable Diffusion 1. */
export const query = 'input_blocks.1.1.transformer_blocks.0.attn1.to_q'
const conv = 'input_blocks.1.0.in_layers.2'

/** A kind of change: the file's tensors for a layer, and what it adds to the weight `w` at strength 1. */
export interface LoraKind {
  readonly layer: string
  readonly tensors: Weights
  delta(parts: Weights, w: Tensor): Matrix
}

const kron = (
  a: Matrix,
  b: (row: number, column: number) => number,
  [rows, columns]: readonly [number, number],
): Matrix => ({
  rows: a.rows * rows,
  columns: a.columns * columns,
  at: (row, column) => a.at(Math.floor(row / rows), Math.floor(column / columns)) * b(row % rows, column % columns),
})

/** Σᵢⱼ t[i, j, k]·a[i, p]·b[j, r] → rows p, columns r·k. */
function tucker(t: Tensor, a: Matrix, b: Matrix): Matrix {
  const area = t.dims.slice(2).reduce((x, y) => x * y, 1)
  return {
    rows: a.columns,
    columns: b.columns * area,
    at(p, column) {
      const [r, k] = [Math.floor(column / area), column % area]
      let sum = 0
      for (let i = 0; i < a.rows; i++)
        for (let j = 0; j < b.rows; j++) sum += t.data[(i * b.rows + j) * area + k]! * a.at(i, p) * b.at(j, r)
      return sum
    },
  }
}

const times = (a: Matrix, f: (row: number, column: number) => number): Matrix => ({
  ...a,
  at: (row, column) => a.at(row, column) * f(row, column),
})

/** Every kind of change, by what it is called; `delta` is worked out here in double precision. */
export const loraKinds: Readonly<Record<string, LoraKind>> = {
  LoRA: {
    layer: query,
    tensors: {
      'lora_up.weight': drawn({ up: [32, 4] }).up!,
      'lora_down.weight': drawn({ down: [4, 32] }).down!,
      alpha: scalar(2),
    },
    delta: (p) => times(product(matrix(p['lora_up.weight']!), matrix(p['lora_down.weight']!)), () => 2 / 4),
  },
  'LoRA of a convolution': {
    layer: conv,
    tensors: {
      'lora_up.weight': drawn({ up: [32, 4, 1, 1] }).up!,
      'lora_down.weight': drawn({ down: [4, 32, 3, 3] }).down!,
    },
    delta: (p) => product(matrix(p['lora_up.weight']!), matrix(p['lora_down.weight']!)),
  },
  'LoCon with a core': {
    layer: conv,
    tensors: {
      'lora_up.weight': drawn({ up: [32, 4, 1, 1] }).up!,
      'lora_mid.weight': drawn({ mid: [4, 4, 3, 3] }).mid!,
      'lora_down.weight': drawn({ down: [4, 32, 1, 1] }).down!,
      alpha: scalar(4),
    },
    delta(p) {
      const down = matrix(p['lora_down.weight']!)
      const eye: Matrix = { rows: 4, columns: 4, at: (i, j) => Number(i === j) }
      return product(matrix(p['lora_up.weight']!), tucker(p['lora_mid.weight']!, eye, down))
    },
  },
  LoHa: {
    layer: query,
    tensors: {
      ...drawn({ hada_w1_a: [32, 3], hada_w1_b: [3, 32], hada_w2_a: [32, 3], hada_w2_b: [3, 32] }),
      alpha: scalar(6),
    },
    delta(p) {
      const right = product(matrix(p.hada_w2_a!), matrix(p.hada_w2_b!))
      return times(product(matrix(p.hada_w1_a!), matrix(p.hada_w1_b!)), (i, j) => 2 * right.at(i, j))
    },
  },
  'LoHa of a convolution': {
    layer: conv,
    tensors: drawn({
      hada_t1: [3, 3, 3, 3],
      hada_w1_a: [3, 32],
      hada_w1_b: [3, 32],
      hada_t2: [3, 3, 3, 3],
      hada_w2_a: [3, 32],
      hada_w2_b: [3, 32],
    }),
    delta(p) {
      const right = tucker(p.hada_t2!, matrix(p.hada_w2_a!), matrix(p.hada_w2_b!))
      return times(tucker(p.hada_t1!, matrix(p.hada_w1_a!), matrix(p.hada_w1_b!)), (i, j) => right.at(i, j))
    },
  },
  LoKr: {
    layer: query,
    tensors: { ...drawn({ lokr_w1: [4, 8], lokr_w2_a: [8, 2], lokr_w2_b: [2, 4] }), alpha: scalar(1) },
    delta(p) {
      const right = product(matrix(p.lokr_w2_a!), matrix(p.lokr_w2_b!))
      return times(kron(matrix(p.lokr_w1!), right.at, [8, 4]), () => 1 / 2)
    },
  },
  'LoKr of whole factors, whose alpha does not count': {
    layer: query,
    tensors: { ...drawn({ lokr_w1: [4, 4], lokr_w2: [8, 8] }), alpha: scalar(100) },
    delta: (p) => kron(matrix(p.lokr_w1!), matrix(p.lokr_w2!).at, [8, 8]),
  },
  'LoKr of a convolution': {
    layer: conv,
    tensors: drawn({
      lokr_w1_a: [4, 2],
      lokr_w1_b: [2, 4],
      lokr_t2: [2, 2, 3, 3],
      lokr_w2_a: [2, 8],
      lokr_w2_b: [2, 8],
    }),
    delta(p) {
      const right = tucker(p.lokr_t2!, matrix(p.lokr_w2_a!), matrix(p.lokr_w2_b!))
      const left = product(matrix(p.lokr_w1_a!), matrix(p.lokr_w1_b!))
      return kron(left, right.at, [8, 72])
    },
  },
  'DoRA, a length for each input': {
    layer: query,
    tensors: {
      'lora_up.weight': drawn({ up: [32, 4] }).up!,
      'lora_down.weight': drawn({ down: [4, 32] }).down!,
      dora_scale: filled([1, 32], 1.3),
      alpha: scalar(2),
    },
    delta(p, w) {
      const low = product(matrix(p['lora_up.weight']!), matrix(p['lora_down.weight']!))
      const whole = matrix(added(w, low, 0.5))
      const length = (j: number) => Math.hypot(...Array.from({ length: 32 }, (_, i) => whole.at(i, j)))
      const old = matrix(w)
      return { ...whole, at: (i, j) => (whole.at(i, j) * 1.3) / length(j) - old.at(i, j) }
    },
  },
  'DoRA of a convolution, a length for each output': {
    layer: 'input_blocks.2.0.op',
    tensors: {
      'lora_up.weight': drawn({ up: [32, 4, 1, 1] }).up!,
      'lora_down.weight': drawn({ down: [4, 32, 3, 3] }).down!,
      dora_scale: filled([32, 1, 1, 1], 0.8),
    },
    delta(p, w) {
      const low = product(matrix(p['lora_up.weight']!), matrix(p['lora_down.weight']!))
      const [old, whole] = [matrix(w), matrix(added(w, low, 1))]
      const length = (i: number) => Math.hypot(...Array.from({ length: 288 }, (_, j) => old.at(i, j)))
      return { ...whole, at: (i, j) => (whole.at(i, j) * 0.8) / length(i) - old.at(i, j) }
    },
  },
  'a whole difference': {
    layer: conv,
    tensors: drawn({ diff: [32, 32, 3, 3] }),
    delta: (p) => matrix(p.diff!),
  },
}
