import type { NotOffered } from '../../src/workload/nodes/support/not-offered.ts'
import type { ModelKind } from './model-kinds.ts'

/** All that the page tells. */
export interface Offer {
  /** The version of ComfyUI whose nodes are counted. */
  readonly version: string
  /** ComfyUI's nodes: class type → category. */
  readonly upstream: ReadonlyMap<string, string>
  readonly nodes: ReadonlySet<string>
  readonly notOffered: readonly NotOffered[]
  readonly samplers: ReadonlySet<string>
  readonly upstreamSamplers: readonly string[]
  readonly schedulers: ReadonlySet<string>
  readonly upstreamSchedulers: readonly string[]
  readonly models: readonly { readonly title: string; readonly kinds: readonly ModelKind[] }[]
}

const code = (name: string) => `\`${name}\``
const list = (names: Iterable<string>) => [...names].map(code).join(', ')
const yes = (supported: boolean) => (supported ? 'yes' : '**no**')
const table = (head: readonly string[], rows: readonly (readonly string[])[]) =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')

/** The page in Markdown. */
export function compatibilityPage(offer: Offer): string {
  const { upstream, nodes, samplers, upstreamSamplers, schedulers, upstreamSchedulers } = offer
  const here = [...upstream.keys()].filter((type) => nodes.has(type))
  return `${[
    '# Does it run mine?',
    '<!-- Made by `npm run compatibility`; a test compares it with what the code offers. Do not edit. -->',
    'Whatever is not here gets an error that names it, before anything runs: nothing is quietly replaced by something ' +
      `similar. Nodes are counted against ComfyUI ${offer.version} without its audio, 3D and web-service nodes, of which ` +
      'there is none here. Own nodes can be added: [custom nodes](custom-nodes.md).',
    table(
      ['', 'here', 'of ComfyUI'],
      [
        ['nodes', String(here.length), String(upstream.size)],
        ['samplers', ...counts(samplers, upstreamSamplers)],
        ['schedulers', ...counts(schedulers, upstreamSchedulers)],
      ],
    ),
    ...offer.models.flatMap(({ title, kinds }) => [`## ${title}`, modelTable(kinds)]),
    '## Samplers',
    unitSection(samplers, upstreamSamplers),
    'Names that end in `_gpu` run the same code as those without, with noise made as on a CPU.',
    '## Schedulers',
    unitSection(schedulers, upstreamSchedulers),
    '## Nodes that are here',
    table(['category', 'nodes'], byCategory(here, upstream)),
    ...extraNodes(offer),
    '## Nodes that are not',
    table(
      ['', 'why', 'nodes'],
      offer.notOffered.map(({ kind, reason, types }) => [kind, reason, list(inOrder(types))]),
    ),
  ].join('\n\n')}\n`
}

const inOrder = (names: readonly string[]) =>
  [...names].sort((a, b) => a.toLowerCase().localeCompare(b.toLowerCase(), 'en'))

const counts = (units: ReadonlySet<string>, upstream: readonly string[]) => [
  String(upstream.filter((name) => units.has(name)).length),
  String(upstream.length),
]

function modelTable(kinds: readonly ModelKind[]): string {
  const sorted = [...kinds.filter(({ supported }) => supported), ...kinds.filter(({ supported }) => !supported)]
  const noted = ({ folder, note }: ModelKind) => [folder && code(`models/${folder}`), note].filter(Boolean).join('; ')
  return table(
    ['', '', 'remarks'],
    sorted.map((kind) => [kind.what, yes(kind.supported), noted(kind)]),
  )
}

/** The names that are here, and in a sentence those that are not. */
function unitSection(units: ReadonlySet<string>, upstream: readonly string[]): string {
  const missing = upstream.filter((name) => !units.has(name))
  return missing.length === 0 ? `All: ${list(units)}.` : `${list(units)}.\n\nNot here: ${list(missing)}.`
}

function byCategory(types: readonly string[], upstream: ReadonlyMap<string, string>): readonly (readonly string[])[] {
  const categories = new Map<string, string[]>()
  for (const type of types) {
    const category = upstream.get(type)!
    categories.set(category, [...(categories.get(category) ?? []), type])
  }
  return [...categories]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([category, names]) => [category.replaceAll('|', '/'), list(inOrder(names))])
}

/** Nodes of ours that the counted version of ComfyUI has not. */
function extraNodes({ nodes, upstream, version }: Offer): readonly string[] {
  const extra = [...nodes].filter((type) => !upstream.has(type))
  return extra.length === 0 ? [] : [`Beyond ComfyUI ${version}: ${list(inOrder(extra))}.`]
}
