import type { Prompt } from '../../src/contracts/prompt.ts'
import {
  emit,
  hidden,
  link,
  listOf,
  type NodeRegistry,
  named,
  nodeFactory,
  optional,
  type RunContext,
  socket,
  widget,
} from '../../src/workload/graph/node.ts'
import { boolean, choice, float, int, listed, seed, string } from '../../src/workload/graph/widget.ts'

/** What toy nodes see: they write what they do into a log. */
export interface ToyContext extends RunContext {
  readonly log: (text: string) => void
}

/** What toy nodes may ask while they are checked. */
export interface ToyCheck {
  readonly files: readonly string[]
}

const defineToy = nodeFactory<ToyContext, ToyCheck>()
const NUMBER = socket<number>('NUMBER')
const ANY = socket<unknown>('*')

const toys = [
  defineToy({
    type: 'Number',
    category: 'toys',
    title: 'Number',
    inputs: { value: widget(float({ default: 0 })) },
    outputs: [NUMBER],
    run: ({ value }, { log }) => {
      log(`Number ${value}`)
      return [value]
    },
  }),
  defineToy({
    type: 'Add',
    category: 'toys',
    title: 'Add',
    inputs: { a: link(NUMBER), b: optional(link(NUMBER)) },
    outputs: [NUMBER],
    run: ({ a, b }, { log }) => {
      log(`Add ${a} ${b}`)
      return [a + (b ?? 0)]
    },
  }),
  defineToy({
    type: 'Split',
    category: 'toys',
    title: 'Split',
    inputs: { count: widget(int({ default: 2, min: 0, max: 10 })) },
    outputs: [listOf(NUMBER, 'items'), named(NUMBER, 'count')],
    run: ({ count }) => [Array.from({ length: count }, (_, i) => i), count],
  }),
  defineToy({
    type: 'Sum',
    category: 'toys',
    title: 'Sum',
    inputs: { items: link(NUMBER), scale: widget(int({ default: 1 })), more: optional(link(NUMBER)) },
    outputs: [NUMBER],
    inputIsList: true,
    run: ({ items, scale, more }) => [items.reduce((sum, item) => sum + item, 0) * scale[0]! + more.length],
  }),
  defineToy({
    type: 'Widgets',
    category: 'toys',
    title: 'Widgets',
    inputs: {
      seed: widget(seed()),
      steps: widget(int({ default: 20, min: 1, max: 10_000 })),
      cfg: widget(float({ default: 8, min: 0, max: 100, step: 0.1 })),
      text: optional(widget(string({ multiline: true }))),
      flag: optional(widget(boolean())),
      mode: widget(choice(['euler', 'heun'])),
    },
    outputs: [socket<string>('STRING')],
    run: ({ seed: noise, steps, cfg, text, flag, mode }) => [[noise, steps, cfg, text, flag, mode].join(' ')],
  }),
  defineToy({
    type: 'Choices',
    category: 'toys',
    title: 'Choices',
    inputs: {
      few: optional(widget({ ...choice([1, 'two', true]), named: true })),
      many: optional(widget(listed(async () => Array.from({ length: 21 }, (_, i) => `file ${i}`)))),
      several: optional(widget({ ...choice(['a', 'b'], { multiselect: true }), named: true })),
      remote: optional(widget({ type: 'COMBO' as const, options: { remote: { route: '/files' } }, read: String })),
    },
    outputs: [NUMBER],
    run: () => [0],
  }),
  defineToy({
    type: 'File',
    category: 'toys',
    title: 'File',
    inputs: { file: widget(listed(async () => ['old.png'])), other: optional(widget(string())) },
    outputs: [NUMBER],
    validate: {
      names: ['file', 'other'],
      check: async ({ file }, { files }) => {
        if (file === 'throw.png') throw new TypeError('cannot look')
        return files.includes(String(file)) ? undefined : `Invalid image file: ${file}`
      },
    },
    fingerprint: async ({ file }, { log }) => {
      if (file === 'gone.png') throw new Error('cannot read gone.png')
      log(`fingerprint ${file}`)
      return `content of ${file}`
    },
    run: ({ file }, { log }) => {
      log(`File ${file}`)
      return [file.length]
    },
  }),
  defineToy({
    type: 'Broken Folder',
    category: 'toys',
    title: 'Broken Folder',
    inputs: { file: widget(listed(() => Promise.reject(new Error('no such folder')))) },
    outputs: [NUMBER],
    run: () => [0],
  }),
  defineToy({
    type: 'Either',
    category: 'toys',
    title: 'Either',
    inputs: { value: link(socket<unknown>('NUMBER, TEXT')) },
    outputs: [socket<unknown>('TEXT,IMAGE')],
    run: ({ value }) => [value],
  }),
  defineToy({
    type: 'Anything',
    category: 'toys',
    title: 'Anything',
    inputs: { value: link(ANY) },
    outputs: [ANY],
    run: ({ value }) => [value],
  }),
  defineToy({
    type: 'Whoami',
    category: 'toys',
    title: 'Whoami',
    inputs: { id: hidden('UNIQUE_ID'), prompt: hidden('PROMPT'), info: hidden('EXTRA_PNGINFO') },
    outputs: [socket<unknown>('WHO')],
    run: ({ id, prompt, info }, { log }) => {
      log(`Whoami ${id}`)
      return [{ id, classes: Object.values(prompt).map(({ class_type }) => class_type), info }]
    },
  }),
  defineToy({
    type: 'Fail',
    category: 'toys',
    title: 'Fail',
    inputs: { value: link(NUMBER) },
    outputs: [NUMBER],
    run: ({ value }): [number] => {
      throw new RangeError(`cannot take ${value}`)
    },
  }),
  defineToy({
    type: 'Show',
    category: 'toys',
    title: 'Show',
    output: true,
    inputs: { value: link(ANY), label: optional(widget(string())) },
    outputs: [],
    run: ({ value, label }, { log }) => {
      log(`Show ${value}`)
      return emit([label === undefined ? value : `${label}: ${value}`])
    },
  }),
]

/** Small nodes that show one thing each. */
export const toyNodes: NodeRegistry<ToyContext, ToyCheck> = new Map(toys.map((toy) => [toy.type, toy]))

/** A prompt from `id: [class, inputs]`, each id as it stands, `__proto__` too. */
export function promptOf(
  nodes: Readonly<Record<string, readonly [string, Readonly<Record<string, unknown>>]>>,
): Prompt {
  return Object.fromEntries(
    Object.entries(nodes).map(([id, [class_type, inputs]]) => [id, { class_type, inputs: { ...inputs } }]),
  )
}

/** `length` additions one after the other, shown at the end: the prompt as deep as it is long. */
export function chainOf(length: number): Prompt {
  const links = Array.from({ length }, (_, i) => [`n${i + 1}`, ['Add', { a: [`n${i}`, 0] }]] as const)
  return promptOf({
    show: ['Show', { value: [`n${length}`, 0] }],
    ...Object.fromEntries(links.toReversed()),
    n0: ['Number', { value: 1 }],
  })
}
