import type { Axis, GraphBuilder, GraphModel, Wire } from '../onnx/graph-builder.ts'
import type { WeightView } from '../weights/weight-view.ts'

/** Padding in pixels: top, left, bottom, right. */
export type Padding = readonly [number, number, number, number]

/**
 * The layers that architectures are written in. Each execution provider has a lowering of its own: the element type
 * and the layout of feature maps are its secret, so a feature map may only be handed from one of these to the next.
 * A `key` names a layer's weights in the checkpoint, e.g. `input_blocks.0.0`.
 */
export interface Lowering {
  readonly graph: GraphBuilder
  /** Float32 `[N, C, H, W]` → feature map. */
  fromImage(x: Wire): Wire
  /** Feature map → float32 `[N, C, H, W]`. */
  toImage(x: Wire): Wire
  /** Float32 `[N, L, C]` or `[N, C]` → the lowering's element type. */
  fromTokens(x: Wire): Wire
  /** → float32. */
  toTokens(x: Wire): Wire
  /** The weights `key` themselves, in the lowering's element type. */
  weight(key: string): Wire
  /** The rows of table `key` `[V, C]` at `ids` (int64); the table stays as it is stored. */
  lookup(key: string, ids: Wire): Wire
  conv(x: Wire, key: string, options?: { readonly stride?: number; readonly padding?: Padding }): Wire
  /** Group normalisation with 32 groups (Wu and He, 2018), with SiLU behind it if wanted. */
  groupNorm(x: Wire, key: string, epsilon: number, activation?: 'silu'): Wire
  layerNorm(x: Wire, key: string): Wire
  /** `x · Wᵀ + b` over the last axis; the bias may be missing. */
  linear(x: Wire, key: string): Wire
  add(a: Wire, b: Wire): Wire
  /** x where it is positive, x times the slope of its channel elsewhere (He et al., 2015). */
  prelu(x: Wire, key: string): Wire
  /** Adds vector `[N, C]` to every pixel of a feature map. */
  addVector(x: Wire, vector: Wire): Wire
  silu(x: Wire): Wire
  gelu(x: Wire): Wire
  /** `x · σ(1.702 x)`, CLIP's activation. */
  quickGelu(x: Wire): Wire
  /** Splits the last axis in halves a, b → `a · gelu(b)` (Shazeer, 2020). */
  gatedGelu(x: Wire): Wire
  /** Joins feature maps along their channels. */
  concat(a: Wire, b: Wire): Wire
  /** Nearest neighbour to the height and width of `like`, or to twice the size. */
  upsample(x: Wire, like?: Wire): Wire
  /** Feature map → `[N, H·W, C]`, rows first. */
  flatten(x: Wire): Wire
  /** `[N, H·W, C]` → feature map of the height and width of `like`. */
  unflatten(tokens: Wire, like: Wire): Wire
  /** Scaled dot-product attention; q `[N, S, C]`, k and v `[N, L, C]`. */
  attention(q: Wire, k: Wire, v: Wire, heads: number, options?: { readonly causal?: boolean }): Wire
}

/** What is wanted of a graph beside its numbers. */
export interface LoweringOptions {
  /**
   * Which weights stay as they are stored and are cast and changed at every run, instead of once when the graph is
   * opened: it opens at once and in little memory, and runs slower. `linear` are those of large linear layers. Only on
   * the CPU.
   */
  readonly stored?: 'linear' | 'all' | undefined
  /**
   * The linear layers over tokens `[N, S, C]` that low-rank changes may be handed to at each run. Only on the CPU. Each
   * has inputs that may be left out: `<key> down` `[rank, in]`, `<key> up` `[out, rank]`, and `<key> reach` `[1]`, how
   * many tokens they are for.
   */
  slots?(key: string): boolean
}

/** Starts a graph named `name` over the weights `view`, in the operators of one execution provider. */
export type LoweringFor = (name: string, view: WeightView, options?: LoweringOptions) => Lowering

/** The symbolic axes of images and latents. */
export const imageAxes = (channels: number): readonly Axis[] => ['N', channels, 'H', 'W']

export type { GraphModel }
