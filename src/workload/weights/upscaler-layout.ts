import type { SafetensorsFile } from './safetensors.ts'
import { renamed, viewOf, type WeightView } from './weight-view.ts'

/** What training tools wrap around a network's names. */
const wrappers = ['params_ema.', 'params.', 'module.']

/** The network of `file` without what training tools wrapped around its names. */
export function unwrapped(file: SafetensorsFile): WeightView {
  let view = viewOf(file, '')
  for (const wrapper of wrappers) {
    const inner = view.names.filter((name) => name.startsWith(wrapper))
    if (inner.length > 0) view = renamed(view, new Map(inner.map((name) => [name.slice(wrapper.length), name])))
  }
  return view
}

/**
 * The RRDB network of `view` under the names of Real-ESRGAN, from its three layouts; undefined for other networks:
 * `conv_first`, `body.B.rdbR.convC`, `conv_body`, `conv_up1` …, `conv_hr`, `conv_last`.
 */
export function rrdbView(view: WeightView): WeightView | undefined {
  const layout =
    view.has('model.0.weight') && view.names.some((name) => name.startsWith('model.1.sub.0.RDB1.'))
      ? originalNames(view)
      : view.has('RRDB_trunk.0.RDB1.conv1.weight')
        ? secondNames
        : view.has('body.0.rdb1.conv1.weight')
          ? (name: string) => name
          : undefined
  return layout && renamed(view, new Map(view.names.map((name) => [layout(name), name])))
}

/** The names of the second ESRGAN layout. */
function secondNames(name: string): string {
  return name
    .replace(/^RRDB_trunk\.(\d+)\.RDB(\d)\./, 'body.$1.rdb$2.')
    .replace(/^trunk_conv\./, 'conv_body.')
    .replace(/^upconv(\d+)\./, 'conv_up$1.')
    .replace(/^HRconv\./, 'conv_hr.')
}

/** The names of the first ESRGAN layout, which numbers its layers: every doubling takes three numbers. */
function originalNames(view: WeightView): (name: string) => string {
  const numbers = view.names.flatMap((name) => name.match(/^model\.(\d+)\.weight$/)?.[1] ?? []).map(Number)
  const last = Math.max(...numbers)
  const layer = (number: number): string => {
    if (number === 0) return 'conv_first'
    if (number === last) return 'conv_last'
    return number === last - 2 ? 'conv_hr' : `conv_up${number / 3}`
  }
  return (name) =>
    name
      .replace(/^model\.1\.sub\.(\d+)\.RDB(\d)\.(conv\d)\.0\./, 'body.$1.rdb$2.$3.')
      .replace(/^model\.1\.sub\.(\d+)\.RDB(\d)\.conv1x1\./, 'body.$1.rdb$2.conv1x1.')
      .replace(/^model\.1\.sub\.\d+\.(weight|bias)$/, 'conv_body.$1')
      .replace(/^model\.(\d+)\.(weight|bias)$/, (_, number: string, part: string) => `${layer(+number)}.${part}`)
}
