import { WorkloadError } from '../base/errors.ts'
import { readStored, type SafetensorsFile, type StoredTensor } from './safetensors.ts'
import type { Delta, Factor, WeightChange } from './weight-change.ts'

/** What a file does to one parameter of a layer, before anybody said how strongly. */
export interface LayerChange extends Pick<WeightChange, 'scale' | 'dora'> {
  readonly parameter: 'weight' | 'bias'
  readonly delta: Delta
}

/** The changes to layers that a file of the LoRA family holds. */
export interface LoraFile {
  /** By the name that the file has for the layer. */
  readonly layers: ReadonlyMap<string, readonly LayerChange[]>
  /** Tensors that are none of any kind known here. */
  readonly strange: readonly string[]
}

/** What a tensor is of its layer's change. */
type Role =
  | ('up' | 'down' | 'mid' | 'alpha' | 'dora' | 'diff' | 'bias' | 'set')
  | `${'hada' | 'lokr'}_${'w1' | 'w2'}${'' | '_a' | '_b'}`
  | ('hada_t1' | 'hada_t2' | 'lokr_t2')
  | 'refused'

/** How trainers end the names of tensors; what stands before is the layer. */
const endings: readonly (readonly [ending: string, role: Role])[] = [
  // kohya and LyCORIS
  ['.lora_up.weight', 'up'],
  ['.lora_down.weight', 'down'],
  ['.lora_mid.weight', 'mid'],
  // diffusers, oldest first
  ['_lora.up.weight', 'up'],
  ['_lora.down.weight', 'down'],
  ['.lora.up.weight', 'up'],
  ['.lora.down.weight', 'down'],
  ['.lora_linear_layer.up.weight', 'up'],
  ['.lora_linear_layer.down.weight', 'down'],
  // PEFT
  ['.lora_B.weight', 'up'],
  ['.lora_A.weight', 'down'],
  ['.lora_B.default.weight', 'up'],
  ['.lora_A.default.weight', 'down'],
  ['.lora_B', 'up'],
  ['.lora_A', 'down'],
  ['.alpha', 'alpha'],
  ['.dora_scale', 'dora'],
  ...(['hada_w1_a', 'hada_w1_b', 'hada_w2_a', 'hada_w2_b', 'hada_t1', 'hada_t2'] as const).map(named),
  ...(['lokr_w1', 'lokr_w1_a', 'lokr_w1_b', 'lokr_w2', 'lokr_w2_a', 'lokr_w2_b', 'lokr_t2'] as const).map(named),
  ['.diff', 'diff'],
  ['.w_norm', 'diff'],
  ['.diff_b', 'bias'],
  ['.b_norm', 'bias'],
  ['.set_weight', 'set'],
  ...['.a1.weight', '.b1.weight', '.oft_blocks', '.oft_diag', '.reshape_weight'].map(
    (each) => [each, 'refused'] as const,
  ),
]

function named<R extends Role>(role: R): readonly [string, R] {
  return [`.${role}`, role]
}

/** The kinds of adapters that are told by their tensors and not applied here. */
const refusedKinds: Readonly<Record<string, string>> = {
  '.a1.weight': 'GLoRA',
  '.b1.weight': 'GLoRA',
  '.oft_blocks': 'OFT',
  '.oft_diag': 'BOFT',
  '.reshape_weight': 'weights of another shape',
}

type Parts = Readonly<Partial<Record<Role, StoredTensor>>>

/** Reads what a file of the LoRA family changes. Throws `execution-failed` when it is of a kind that is not known here. */
export async function readLoraFile(file: SafetensorsFile): Promise<LoraFile> {
  const layers = new Map<string, Partial<Record<Role, StoredTensor>>>()
  const strange: string[] = []
  for (const [name, tensor] of file.tensors) {
    const [ending, role] = endings.find(([each]) => name.endsWith(each)) ?? []
    if (role === 'refused')
      throw new WorkloadError(
        'execution-failed',
        `${file.path} is of a kind that is not supported: ${refusedKinds[ending!]}`,
      )
    if (!role) {
      strange.push(name)
      continue
    }
    const layer = name.slice(0, -ending!.length)
    layers.set(layer, { ...layers.get(layer), [role]: tensor })
  }
  const read = await Promise.all(
    [...layers].map(async ([layer, parts]) => {
      const alpha = parts.alpha && (await readStored(parts.alpha, `${layer}.alpha`)).data[0]
      return [layer, changesOf(parts, alpha)] as const
    }),
  )
  return { layers: new Map(read), strange }
}

/** The changes that tensors of one layer make together; a tensor whose partner is missing makes none. */
function changesOf(parts: Parts, alpha: number | undefined): readonly LayerChange[] {
  const { dora, diff, bias, set } = parts
  const low = lowRank(parts)
  const full = (parameter: 'weight' | 'bias', kind: 'full' | 'set', values: StoredTensor): LayerChange => ({
    parameter,
    delta: { kind, values },
    scale: 1,
  })
  return [
    ...(low
      ? [
          {
            parameter: 'weight' as const,
            delta: low.delta,
            scale: alpha !== undefined && low.rank !== undefined ? alpha / low.rank : 1,
            dora,
          },
        ]
      : []),
    ...(diff ? [full('weight', 'full', diff)] : []),
    ...(set ? [full('weight', 'set', set)] : []),
    ...(bias ? [full('bias', 'full', bias)] : []),
  ]
}

/** The low-rank change of a layer and the rank that its alpha is divided by. */
function lowRank(parts: Parts): { readonly delta: Delta; readonly rank: number | undefined } | undefined {
  const { up, down, mid } = parts
  if (up && down) return { delta: { kind: 'lora', up, down, mid }, rank: down.dims[0] }
  const [left, right] = [factor(parts, 'hada_w1', parts.hada_t1), factor(parts, 'hada_w2', parts.hada_t2)]
  if (left && right) return { delta: { kind: 'loha', left, right }, rank: parts.hada_w1_b!.dims[0] }
  const [first, second] = [factor(parts, 'lokr_w1'), factor(parts, 'lokr_w2', parts.lokr_t2)]
  if (!first || !second) return undefined
  const rank = [second, first]
    .map((each) => ('b' in each ? each.b.dims[0] : undefined))
    .find((each) => each !== undefined)
  return { delta: { kind: 'lokr', left: first, right: second }, rank }
}

function factor(
  parts: Parts,
  role: 'hada_w1' | 'hada_w2' | 'lokr_w1' | 'lokr_w2',
  t?: StoredTensor,
): Factor | undefined {
  const [whole, a, b] = [parts[role], parts[`${role}_a`], parts[`${role}_b`]]
  if (whole) return { whole }
  return a && b ? { a, b, t } : undefined
}
