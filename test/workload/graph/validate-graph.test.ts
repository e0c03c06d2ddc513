import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Prompt } from '../../../src/contracts/prompt.ts'
import { WorkloadError } from '../../../src/workload/base/errors.ts'
import { validate } from '../../../src/workload/graph/validate.ts'
import { anyPrompts } from '../../support/any-prompts.ts'
import { promptOf, toyNodes } from '../../support/toy-nodes.ts'

const host = { files: ['new.png'] }
const check = (prompt: Prompt) => validate(prompt, toyNodes, host)
const refusalOf = (prompt: Prompt): Promise<WorkloadError> =>
  check(prompt).then(
    () => Promise.reject(new Error('was accepted')),
    (error: unknown) => (error instanceof WorkloadError ? error : Promise.reject(error)),
  )
const shown = (id: string) => ['Show', { value: [id, 0] }] as const

describe('a prompt as a whole', () => {
  it('has to end somewhere', async () => {
    const fault = { type: 'prompt_no_outputs', message: 'Prompt has no outputs', details: '', extra_info: {} }
    for (const prompt of [{}, promptOf({ a: ['Number', { value: 1 }] })]) {
      expect(await refusalOf(prompt)).toMatchObject({
        code: 'no-output-node',
        message: 'Prompt has no outputs',
        facts: { graphFault: fault },
      })
    }
  })

  it('names every node of an unknown class, and every other fault with it', async () => {
    const prompt = promptOf({
      a: ['Nope', {}],
      b: ['Add', { a: ['a', 5] }],
      c: ['constructor', {}],
      d: ['Add', {}],
      s1: shown('b'),
      s2: shown('d'),
      s3: ['Show', { value: 1 }],
    })
    prompt.c!._meta = { title: 'My node' }
    const error = await refusalOf(prompt)
    expect(error).toMatchObject({
      code: 'invalid-graph',
      message: "Node a (Nope): Node 'Nope' not found. The custom node may not be installed. (and 2 more faults)",
      facts: {
        location: 'prompt.a.class_type',
        graphFault: {
          type: 'missing_node_type',
          message: "Node 'Nope' not found. The custom node may not be installed.",
          details: "Node ID '#a'",
          extra_info: { node_id: 'a', class_type: 'Nope', node_title: null },
        },
        errors: {
          'prompt.a.class_type': ["Node 'Nope' not found. The custom node may not be installed."],
          'prompt.c.class_type': ["Node 'My node' not found. The custom node may not be installed."],
          'prompt.d.inputs.a': ['Required input is missing'],
        },
      },
    })
    expect(error.facts.nodeErrors).toMatchObject({
      a: { class_type: 'Nope', dependent_outputs: ['s1', 's2'], errors: [{ type: 'missing_node_type' }] },
      c: { dependent_outputs: [], errors: [{ extra_info: { node_title: 'My node' } }] },
      d: { dependent_outputs: ['s2'], errors: [{ type: 'required_input_missing' }] },
    })
    expect(Object.keys(error.facts.nodeErrors!)).toEqual(['a', 'c', 'd'])
  })

  it('fails with the faults of the outputs themselves in its details, and all faults under their nodes', async () => {
    const { facts } = await refusalOf(
      promptOf({
        deep: ['Add', {}],
        s1: ['Show', {}],
        s2: ['Show', { value: ['deep', 0], label: ['deep', 0] }],
        lonely: ['Add', {}],
      }),
    )
    expect(facts.graphFault).toEqual({
      type: 'prompt_outputs_failed_validation',
      message: 'Prompt outputs failed validation',
      details:
        'Required input is missing: value\n' +
        'Return type mismatch between linked nodes: label, received_type(NUMBER) mismatch input_type(STRING)',
      extra_info: {},
    })
    expect(Object.keys(facts.nodeErrors!)).toEqual(['deep', 's1', 's2'])
    expect(Object.keys(facts.errors!)).toEqual([
      'prompt.deep.inputs.a',
      'prompt.s1.inputs.value',
      'prompt.s2.inputs.label',
    ])
  })

  it('tells one fault in one sentence', async () => {
    const { message } = await refusalOf(promptOf({ s: ['Show', {}] }))
    expect(message).toBe('Node s (Show, value): Required input is missing')
    const long = await refusalOf(promptOf({ n: ['Split', { count: 'x'.repeat(1e6) }], s: shown('n') }))
    expect(long.message.length).toBeLessThan(500)
  })

  it('runs its good outputs and reports the others', async () => {
    const prompt = promptOf({
      good: ['Number', { value: '2' }],
      bad: ['Add', {}],
      first: shown('bad'),
      second: shown('good'),
      third: shown('bad'),
      fourth: ['Show', {}],
      fifth: shown('good'),
    })
    const { outputs, nodeErrors, prompt: coerced } = await check(prompt)
    expect(outputs).toEqual(['second', 'fifth'])
    expect(coerced.good!.inputs).toEqual({ value: 2 })
    expect(nodeErrors).toMatchObject({
      bad: { class_type: 'Add', dependent_outputs: ['first', 'third', 'fourth'] },
      fourth: { dependent_outputs: ['fourth'] },
    })
    expect(Object.keys(nodeErrors)).toEqual(['bad', 'fourth'])
  })

  it('may not have more nodes than anybody draws', async () => {
    const nodes = Array.from({ length: 20_001 }, (_, i) => [`s${i}`, ['Show', { value: 1 }]] as const)
    const { message } = await refusalOf(promptOf(Object.fromEntries(nodes)))
    expect(message).toBe('The prompt has 20001 nodes; 20000 are the most')
  })

  it('may name its nodes like members of objects', async () => {
    const nodes = [
      ['__proto__', { class_type: 'Number', inputs: { value: 1 } }],
      ['constructor', { class_type: 'Add', inputs: { a: ['__proto__', 0] } }],
      ['toString', { class_type: 'Show', inputs: { value: ['constructor', 0] } }],
    ] as const
    const { prompt, outputs } = await check(Object.fromEntries(nodes) as Prompt)
    expect(Object.entries(prompt)).toEqual(nodes)
    expect(outputs).toEqual(['toString'])
    const { facts } = await refusalOf(
      promptOf({ s: ['Show', { value: ['__proto__', 0] }], t: shown('hasOwnProperty') }),
    )
    expect(Object.values(facts.nodeErrors!).map(({ errors }) => errors[0]!.details)).toEqual([
      "'__proto__'",
      "'hasOwnProperty'",
    ])
  })
})

describe('something thrown while a node is checked', () => {
  it.each([
    [['9', 0], "'9'", 'KeyError'],
    [[1, 0], '1', 'KeyError'],
    [[null, 0], 'None', 'KeyError'],
    [[['n'], 0], "unhashable type: 'list'", 'TypeError'],
    [['number', 1], 'tuple index out of range', 'IndexError'],
    [['number', -2], 'tuple index out of range', 'IndexError'],
    [['number', '0'], 'tuple indices must be integers or slices, not str', 'TypeError'],
    [['number', 0.5], 'tuple indices must be integers or slices, not float', 'TypeError'],
  ])('link %j: %s', async (link, details, exception_type) => {
    const nodes = { number: ['Number', { value: 1 }] as const, n: ['Add', { a: link }] as const, s: shown('n') }
    const inner = await refusalOf(promptOf(nodes))
    const extra_info = {
      input_name: 'value',
      input_config: ['*', {}],
      exception_message: details,
      exception_type,
      traceback: [],
      linked_node: ['n', 0],
    }
    const message = 'Exception when validating inner node'
    expect(inner.facts.nodeErrors!.n!.errors).toEqual([
      { type: 'exception_during_inner_validation', message, details, extra_info },
    ])
    expect(inner.facts.location).toBe('prompt.n.inputs.a')

    const outer = await refusalOf(promptOf({ number: nodes.number, s: ['Show', { value: link }] }))
    expect(outer.facts.nodeErrors!.s!.errors).toEqual([
      {
        type: 'exception_during_validation',
        message: 'Exception when validating node',
        details,
        extra_info: { exception_type, traceback: [] },
      },
    ])
    expect(outer.facts.graphFault!.details).toBe(`Exception when validating node: ${details}`)
  })

  it('is told in words that people understand', async () => {
    const { message } = await refusalOf(promptOf({ s: shown('9') }))
    expect(message).toBe("Node s (Show, value): There is no node '9' to read from")
    const { facts } = await refusalOf(promptOf({ n: ['Number', { value: 1 }], s: ['Show', { value: ['n', 3] }] }))
    expect(facts.errors).toEqual({ 'prompt.s.inputs.value': ['Node n (Number) has no output 3'] })
  })

  it('may come from the node itself or from its choices, and hides no other fault', async () => {
    const { facts } = await refusalOf(
      promptOf({
        f: ['File', { file: 'throw.png' }],
        broken: ['Broken Folder', { file: 'x' }],
        via: ['Broken Folder', { file: ['nowhere', 0] }],
        both: ['Widgets', { seed: ['nowhere', 0], steps: 0, cfg: ['f', 7], mode: 'euler' }],
        s1: shown('f'),
        s2: shown('broken'),
        s3: shown('via'),
        s4: shown('both'),
      }),
    )
    expect(facts.nodeErrors).toMatchObject({
      f: { errors: [{ details: 'cannot look', extra_info: { exception_type: 'TypeError' } }] },
      broken: { errors: [{ type: 'exception_during_inner_validation', details: 'no such folder' }] },
      via: { errors: [{ details: "'nowhere'" }] },
      both: {
        errors: [{ details: "'nowhere'" }, { type: 'value_smaller_than_min' }, { details: 'tuple index out of range' }],
      },
    })
  })
})

describe('a dependency cycle', () => {
  it('is told to all its nodes, merged with their other faults', async () => {
    const { facts } = await refusalOf(
      promptOf({ s: shown('3'), '3': ['Add', { a: ['1', 0] }], '1': ['Add', { a: ['3', 0], b: 'wire' }] }),
    )
    const fault = (node_id: string) => ({
      type: 'dependency_cycle',
      message: 'Dependency cycle detected',
      details: '3 (Add) -> 1 (Add) -> 3 (Add)',
      extra_info: { node_id, cycle_nodes: ['3', '1'] },
    })
    expect(facts.nodeErrors).toMatchObject({
      '1': { errors: [fault('1'), { type: 'bad_linked_input' }], dependent_outputs: ['s'] },
      '3': { errors: [fault('3')], dependent_outputs: ['s'] },
    })
    expect(Object.keys(facts.nodeErrors!)).toEqual(['1', '3'])
  })

  it('may be as short as one node, and lie within another', async () => {
    const { facts } = await refusalOf(
      promptOf({ a: ['Add', { a: ['b', 0] }], b: ['Add', { a: ['b', 0], b: ['a', 0] }], s: shown('a') }),
    )
    expect(facts.nodeErrors!.b!.errors.map(({ details }) => details)).toEqual([
      'b (Add) -> b (Add)',
      'a (Add) -> b (Add) -> a (Add)',
    ])
    expect(facts.nodeErrors!.a!.errors).toHaveLength(1)
  })

  it('spoils only the outputs that need it', async () => {
    const { outputs, nodeErrors } = await check(
      promptOf({ loop: ['Add', { a: ['loop', 0] }], s: shown('loop'), good: ['Show', { value: 1 }] }),
    )
    expect(outputs).toEqual(['good'])
    expect(nodeErrors.loop!.dependent_outputs).toEqual(['s'])
  })

  it('of thousands of nodes is told in a few', async () => {
    const nodes = Array.from({ length: 5000 }, (_, i) => [`n${i}`, ['Add', { a: [`n${(i + 1) % 5000}`, 0] }]] as const)
    const { facts } = await refusalOf(promptOf({ ...Object.fromEntries(nodes), s: shown('n0') }))
    expect(Object.keys(facts.nodeErrors!)).toHaveLength(5000)
    const [fault] = facts.nodeErrors!.n2500!.errors
    expect(fault!.details).toMatch(/^n0 \(Add\) -> n1 \(Add\) .* -> 4984 more -> .* -> n4999 \(Add\) -> n0 \(Add\)$/)
  })
})

describe('whatever a prompt holds', () => {
  it('is accepted or refused with a readable error, and never changed', async () => {
    await fc.assert(
      fc.asyncProperty(anyPrompts, async (prompt) => {
        const before = structuredClone(prompt)
        const verdict = await check(prompt).catch((error: unknown) => error)
        if (verdict instanceof Error) {
          expect(verdict).toBeInstanceOf(WorkloadError)
          expect(verdict.message).not.toBe('')
        }
        expect(prompt).toEqual(before)
      }),
      { numRuns: 500 },
    )
  })
})
