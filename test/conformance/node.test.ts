import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parseExact } from '../../src/common/json.ts'
import { describeNode } from '../../src/workload/graph/describe.ts'
import { loadNodes } from '../../src/workload/nodes/support/registry.ts'
import { loadSamplers } from '../../src/workload/sampling/load-samplers.ts'
import { loadSchedulers } from '../../src/workload/sampling/load-schedulers.ts'

interface GoldenNode {
  readonly category: string
  readonly python_module: string
  readonly input: Readonly<Record<string, Readonly<Record<string, readonly [unknown, Record<string, unknown>]>>>>
  readonly output: readonly string[]
  readonly output_is_list: readonly boolean[]
  readonly output_name: readonly string[]
  readonly output_node: boolean
}

const golden = parseExact(readFileSync('test/fixtures/goldens/node-interfaces.json', 'utf8')) as {
  readonly nodes: Readonly<Record<string, GoldenNode>>
}
const samplers = await loadSamplers()
const schedulers = await loadSchedulers()
const nodes = await loadNodes({ samplers, schedulers, files: async () => [], inputImages: async () => [] })
const kebab = (type: string) =>
  type
    .replace(/([a-z]|(?<!_)[0-9])([A-Z])|([A-Z])([A-Z][a-z])/g, '$1$3-$2$4')
    .replaceAll(/[_ ]/g, '-')
    .toLowerCase()

/** Inputs that upstream's nodes have got since the golden was made. */
const newer: Readonly<Record<string, GoldenNode['input']>> = {
  ImageScaleToTotalPixels: { optional: { resolution_steps: ['INT', { default: 1, min: 1, max: 256 }] } },
}

/** Upstream's interface without what only says where a list came from, and with the samplers of its newest version. */
function upstream(type: string): Omit<GoldenNode, never> {
  const offered = (choices: unknown) => {
    if (!Array.isArray(choices)) return choices
    if (choices.includes('euler')) return [...samplers.keys()]
    if (choices.includes('karras')) return choices.filter((name) => schedulers.has(name))
    return choices
  }
  const node = golden.nodes[type]!
  const input = Object.fromEntries(
    Object.entries({ ...node.input, ...newer[type] }).map(([kind, inputs]) => [
      kind,
      Object.fromEntries(
        Object.entries(inputs).map(([name, declared]) => {
          if (kind === 'hidden') return [name, declared]
          const [choices, { x_files: _, ...options }] = declared
          return [name, [offered(choices), options]]
        }),
      ),
    ]),
  )
  return { ...node, input }
}

describe.each([...nodes])('node %s', (type, node) => {
  it('lives in a file of its own name', () => {
    expect(readdirSync('src/workload/nodes')).toContain(`${kebab(type)}.ts`)
  })

  it("has upstream's interface, key for key and in its order", async () => {
    const { category, python_module, input, output, output_is_list, output_name, output_node } = upstream(type)
    const ours = (await describeNode(node)) as unknown as GoldenNode
    expect(ours).toMatchObject({ category, python_module, output, output_is_list, output_name, output_node })
    for (const kind of ['required', 'optional', 'hidden'])
      expect(JSON.stringify(ours.input[kind] ?? {}, digits)).toBe(JSON.stringify(input[kind] ?? {}, digits))
  })

  it('is described in words of our own', () => {
    expect(node.title).not.toBe('')
    expect(node.description).toMatch(/\.$/)
  })
})

/** JSON knows no bigint. */
const digits = (_key: string, value: unknown) => (typeof value === 'bigint' ? value.toString() : value)
