import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Prompt } from '../../../src/contracts/prompt.ts'
import { plan } from '../../../src/workload/graph/plan.ts'
import { sign } from '../../../src/workload/graph/signature.ts'
import { promptOf, toyNodes } from '../../support/toy-nodes.ts'

const context = { signal: new AbortController().signal, progress: () => undefined, log: () => undefined }
const keysOf = (prompt: Prompt, ...outputs: readonly string[]) =>
  sign({ prompt, order: plan(prompt, outputs, toyNodes).order, registry: toyNodes, context })
/** The key of node `n` with these inputs. */
const keyOf = async (type: string, inputs: Readonly<Record<string, unknown>>) => {
  const prompt = promptOf({ n: [type, inputs], one: ['Number', { value: 1 }], two: ['Number', { value: 2 }] })
  return (await keysOf(prompt, 'n')).get('n')
}

describe('the key of a result', () => {
  it('is a SHA-256 in hex', async () => {
    expect(await keyOf('Number', { value: 1 })).toMatch(/^[0-9a-f]{64}$/)
  })

  it.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ['Number', { value: 1 }, { value: 2 }],
    ['Widgets', { seed: 2n ** 64n - 1n }, { seed: 2n ** 64n - 2n }],
    ['Widgets', { text: '1' }, { text: 1 }],
    ['Anything', { value: 0 }, { value: -0 }],
    ['Anything', { value: 10n ** 20n }, { value: 1e20 }],
    ['Anything', { value: { __value__: ['one', 0] } }, { value: ['one', 0] }],
    ['Anything', { value: [1, [2]] }, { value: [[1], 2] }],
    ['Add', { a: ['one', 0] }, { a: ['two', 0] }],
    ['Add', { a: ['one', 0] }, { a: ['one', 1] }],
    ['Add', { a: ['one', 0] }, { a: ['one', 0], b: ['one', 0] }],
    ['File', { file: 'a.png' }, { file: 'b.png' }],
  ])('differs where the result may: %s %o and %o', async (type, one, other) => {
    expect(await keyOf(type, one)).not.toBe(await keyOf(type, other))
  })

  it.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ['Number', { value: 1 }, { stray: 2, value: 1 }],
    ['Anything', { value: { a: 1, b: [2n ** 70n] } }, { value: { b: [2n ** 70n], a: 1 } }],
    ['Add', { a: ['one', 0], b: null }, { a: ['one', 0] }],
  ])('agrees where the result must: %s', async (type, one, other) => {
    expect(await keyOf(type, one)).toBe(await keyOf(type, other))
  })

  it('counts the id of a node that asks for it', async () => {
    const keys = await keysOf(promptOf({ a: ['Whoami', {}], b: ['Whoami', {}] }), 'a', 'b')
    expect(keys.get('a')).not.toBe(keys.get('b'))
  })

  it('is missing when the fingerprint cannot be taken, also of all that reads from there', async () => {
    const prompt = promptOf({
      file: ['File', { file: 'gone.png' }],
      add: ['Add', { a: ['one', 0], b: ['file', 0] }],
      one: ['Number', { value: 1 }],
    })
    expect([...(await keysOf(prompt, 'add')).keys()]).toEqual(['one'])
  })

  it('does not depend on ids or on the order of keys', async () => {
    const numbers = fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(numbers, fc.infiniteStream(fc.nat()), async (picks, random) => {
        const [next, salt] = [() => random.next().value ?? 0, random.next().value ?? 0]
        const build = (name: (i: number) => string, flip: boolean) => {
          const entries = picks.map((pick, i) => {
            const inputs = { a: [name((pick * 7) % Math.max(1, i)), 0], b: [name((pick + i) % Math.max(1, i)), 0] }
            const node = i === 0 ? { value: pick } : flip ? { b: inputs.b, a: inputs.a } : inputs
            return [name(i), { class_type: i === 0 ? 'Number' : 'Add', inputs: node }] as const
          })
          const sorted = flip ? entries.map((entry) => [next(), entry] as const).sort(([a], [b]) => a - b) : undefined
          return Object.fromEntries(sorted?.map(([, entry]) => entry) ?? entries)
        }
        const last = picks.length - 1
        const plain = await keysOf(
          build((i) => `${i}`, false),
          `${last}`,
        )
        const renamed = await keysOf(
          build((i) => `x${(i * 37 + salt) % 9973}-${i}`, true),
          `x${(last * 37 + salt) % 9973}-${last}`,
        )
        expect([...renamed.values()]).toEqual([...plain.values()])
      }),
    )
  })
})
