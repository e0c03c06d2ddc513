import fc from 'fast-check'
import type { Prompt } from '../../src/contracts/prompt.ts'
import { toyNodes } from './toy-nodes.ts'

const ids = ['a', 'b', 'c', '1', '__proto__', 'constructor']
const links = fc.tuple(fc.constantFrom(...ids), fc.oneof(fc.integer({ min: -3, max: 3 }), fc.jsonValue()))
const inputNames = [...toyNodes.values()].flatMap((node) => Object.keys(node.inputs))
const values = fc.oneof(links, fc.jsonValue(), fc.bigInt(), fc.double(), fc.record({ __value__: fc.jsonValue() }))
const nodes = fc.record({
  class_type: fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...toyNodes.keys()) }, fc.string()),
  inputs: fc.dictionary(fc.constantFrom(...inputNames, '__proto__', 'stray'), values),
})

/** Prompts of toy nodes with any ids, links and values that JSON can hold. */
export const anyPrompts: fc.Arbitrary<Prompt> = fc.dictionary(fc.constantFrom(...ids), nodes)

/** Prompts that are often sound: outputs over wires of any type and literals that read. */
export const likelyPrompts: fc.Arbitrary<Prompt> = fc
  .array(fc.tuple(fc.constantFrom(...toyNodes.keys()), fc.nat(), fc.jsonValue()), { minLength: 1, maxLength: 12 })
  .map((picks) => {
    const entries = picks.map(([class_type, pick, literal], i): [string, Prompt[string]] => {
      const link = [`${Math.max(0, i - 1 - (pick % 3))}`, pick % 2]
      const fit = { value: i === 0 ? literal : link, a: link, items: link, count: pick % 4, steps: 1, cfg: 1, scale: 1 }
      const rest = { seed: pick, mode: 'heun', file: 'new.png', label: literal }
      return [`${i}`, { class_type: i === 0 ? 'Anything' : class_type, inputs: { ...fit, ...rest } }]
    })
    const last = [`${entries.length - 1}`, 0]
    return Object.fromEntries([...entries, ['out', { class_type: 'Show', inputs: { value: last } }]])
  })
