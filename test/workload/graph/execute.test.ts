import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Prompt } from '../../../src/contracts/prompt.ts'
import { WorkloadError } from '../../../src/workload/base/errors.ts'
import { createResultCache } from '../../../src/workload/graph/cache.ts'
import { type ExecutionEvent, execute } from '../../../src/workload/graph/execute.ts'
import { link, type NodeRegistry, nodeFactory, socket } from '../../../src/workload/graph/node.ts'
import { validate } from '../../../src/workload/graph/validate.ts'
import { anyPrompts, likelyPrompts } from '../../support/any-prompts.ts'
import { promptOf, type ToyCheck, type ToyContext, toyNodes } from '../../support/toy-nodes.ts'

const cacheOf = (maxBytes = 1e6) => createResultCache({ maxBytes, sizeOf: () => 1 })

interface Setting {
  readonly cache?: ReturnType<typeof cacheOf>
  readonly registry?: NodeRegistry<ToyContext, ToyCheck>
  readonly signal?: AbortSignal
  readonly freeMemory?: () => Promise<void>
}

/** Validates and runs `prompt`; tells what it emitted, what its nodes logged and what was reported of them. */
async function run(prompt: Prompt, setting: Setting = {}) {
  const { cache = cacheOf(), registry = toyNodes, signal = new AbortController().signal, freeMemory } = setting
  const log: string[] = []
  const events: ExecutionEvent[] = []
  const valid = await validate(prompt, registry, { files: ['gone.png'] })
  const emitted = await execute({
    ...{ prompt: valid.prompt, outputs: valid.outputs, registry, cache, signal },
    contextFor: (context) => ({ ...context, log: (text) => log.push(text) }),
    pngInfo: { workflow: 1 },
    onEvent: (event) => events.push(event),
    ...(freeMemory && { freeMemory }),
  })
  const kinds = (kind: ExecutionEvent['kind']) => events.filter((event) => event.kind === kind).map(({ node }) => node)
  return { emitted, log, events, kinds }
}

const failureOf = (prompt: Prompt, setting?: Setting): Promise<unknown> =>
  run(prompt, setting).then(
    () => undefined,
    (error: unknown) => error,
  )
const number = (value: number) => ['Number', { value }] as const
const shown = (id: string) => ['Show', { value: [id, 0] }] as const

describe('a run', () => {
  it('gives the artifacts of the outputs in the order of the prompt and tells what happens', async () => {
    const { emitted, events } = await run(
      promptOf({ late: shown('sum'), early: shown('one'), sum: ['Add', { a: ['one', 0] }], one: number(1) }),
    )
    expect(emitted).toEqual([
      { node: 'late', artifacts: [1] },
      { node: 'early', artifacts: [1] },
    ])
    expect(events.map(({ kind, node }) => `${kind} ${node}`)).toEqual(
      ['one', 'sum', 'late', 'early'].flatMap((node) => [`started ${node}`, `finished ${node}`]),
    )
  })

  it('leaves out what no good output needs', async () => {
    const { log } = await run(promptOf({ a: number(1), b: number(2), s: shown('a'), bad: ['Show', {}] }))
    expect(log).toEqual(['Number 1', 'Show 1'])
  })

  it('reads literals through their widgets, and takes what flows over a wire as it is', async () => {
    const widgets = { seed: 7, steps: '3', cfg: '1.5', text: 5, flag: 'no', mode: 'heun' }
    const { emitted } = await run(
      promptOf({
        w: ['Widgets', widgets],
        again: ['Widgets', { ...widgets, text: ['w', 0], flag: 0 }],
        s: ['Show', { value: ['w', 0] }],
        t: ['Show', { value: ['again', 0], label: ['w', 0] }],
      }),
    )
    expect(emitted[0]!.artifacts).toEqual(['7 3 1.5 5 true heun'])
    expect(emitted[1]!.artifacts).toEqual(['7 3 1.5 5 true heun: 7 3 1.5 7 3 1.5 5 true heun false heun'])
  })

  it('fills hidden inputs and takes literals out of their wrapping', async () => {
    const { emitted } = await run(
      promptOf({
        who: ['Whoami', { id: 'not me' }],
        list: ['Show', { value: { __value__: ['who', 0] } }],
        s: shown('who'),
      }),
    )
    expect(emitted).toEqual([
      { node: 'list', artifacts: [['who', 0]] },
      { node: 's', artifacts: [{ id: 'who', classes: ['Whoami', 'Show', 'Show'], info: { workflow: 1 } }] },
    ])
  })

  it('runs every node once, after those it reads from', async () => {
    const graphs = fc.array(fc.tuple(fc.nat(), fc.option(fc.nat())), { minLength: 1, maxLength: 30 })
    await fc.assert(
      fc.asyncProperty(graphs, async (picks) => {
        const nodes = picks.map(([a, b], i): [string, readonly [string, Record<string, unknown>]] => {
          if (i === 0) return ['n0', number(0)]
          const more = b === null ? {} : { b: [`n${b % i}`, 0] }
          return [`n${i}`, ['Add', { a: [`n${a % i}`, 0], ...more }]]
        })
        const outputs = picks.map((_, i) => [`s${i}`, shown(`n${i}`)] as const)
        const { kinds } = await run(promptOf(Object.fromEntries([...outputs, ...nodes])), { cache: cacheOf(0) })
        const order = kinds('started')
        expect(order.toSorted()).toEqual([...nodes, ...outputs].map(([id]) => id).toSorted())
        for (const [id, [, inputs]] of nodes) {
          for (const input of Object.values(inputs)) {
            if (Array.isArray(input)) expect(order.indexOf(input[0])).toBeLessThan(order.indexOf(id))
          }
        }
      }),
      { numRuns: 50 },
    )
  })
})

describe('whatever a prompt holds', () => {
  it('runs or fails with an error that the caller may read', async () => {
    let ran = 0
    await fc.assert(
      fc.asyncProperty(fc.oneof(likelyPrompts, anyPrompts), async (prompt) => {
        const error = await failureOf(prompt)
        if (error === undefined) ran++
        else expect(error).toBeInstanceOf(WorkloadError)
      }),
      { numRuns: 500 },
    )
    expect(ran).toBeGreaterThan(5)
  })
})

describe('what is known already', () => {
  const prompt = (prefix = '') =>
    promptOf({
      [`${prefix}s`]: shown(`${prefix}sum`),
      [`${prefix}sum`]: ['Add', { a: [`${prefix}one`, 0] }],
      [`${prefix}one`]: number(1),
    })

  it('is not run again, whatever the ids are, but emitted again', async () => {
    const cache = cacheOf()
    const first = await run(prompt(), { cache })
    const second = await run(prompt('x'), { cache })
    expect(second.emitted).toEqual([{ node: 'xs', artifacts: first.emitted[0]!.artifacts }])
    expect(second.log).toEqual([])
    expect(second.events.map(({ kind, node }) => `${kind} ${node}`)).toEqual([
      'cached xone',
      'cached xsum',
      'cached xs',
    ])
  })

  it('makes its sources unnecessary, even where they are forgotten', async () => {
    const cache = createResultCache({ maxBytes: 2, sizeOf: () => 2 })
    await run(promptOf({ s: shown('sum'), sum: ['Add', { a: ['one', 0] }], one: number(1) }), { cache })
    const { log, kinds } = await run(prompt(), { cache })
    expect(log).toEqual([])
    expect(kinds('cached')).toEqual(['one', 'sum', 's'])
  })

  it('is shared by equal nodes of one prompt', async () => {
    const { log, kinds } = await run(
      promptOf({ a: number(1), b: number(1), sum: ['Add', { a: ['a', 0], b: ['b', 0] }], s: shown('sum') }),
    )
    expect(log).toEqual(['Number 1', 'Add 1 1', 'Show 2'])
    expect(kinds('cached')).toEqual(['b'])
  })

  it('is computed once for two prompts that need it at the same time', async () => {
    const cache = cacheOf()
    const both = await Promise.all([run(prompt(), { cache }), run(prompt('x'), { cache })])
    expect(both.flatMap(({ log }) => log).toSorted()).toEqual(['Add 1 undefined', 'Number 1', 'Show 1'])
    expect(both.map(({ emitted }) => emitted[0]!.artifacts)).toEqual([[1], [1]])
  })

  it('is nothing when the fingerprint cannot be taken', async () => {
    const cache = cacheOf()
    const file = promptOf({ f: ['File', { file: 'gone.png' }], s: shown('f') })
    for (let i = 0; i < 2; i++) expect((await run(file, { cache })).log).toEqual(['File gone.png', 'Show 8'])
  })
})

describe('a failing node', () => {
  it('stops the prompt and is named', async () => {
    const cause = new RangeError('cannot take 3')
    const error = await failureOf(promptOf({ n: number(3), bad: ['Fail', { value: ['n', 0] }], s: shown('bad') }))
    expect(error).toMatchObject({
      ...{ code: 'execution-failed', message: 'Node bad (Fail): cannot take 3', cause },
      facts: { nodeId: 'bad', nodeType: 'Fail' },
    })
  })

  const context = nodeFactory<ToyContext, ToyCheck>()
  const odd = (type: string, run: (signal: AbortSignal) => Promise<unknown>) =>
    context({
      ...{ type, category: 'toys', title: type, inputs: { value: link(socket<unknown>('*')) } },
      outputs: [socket<unknown>('NUMBER')],
      run: (_values, { signal }) => run(signal) as Promise<[unknown]>,
    })
  const registryWith = (node: ReturnType<typeof odd>) => new Map(toyNodes).set('Odd', node)
  const oddPrompt = promptOf({ odd: ['Odd', { value: 1 }], s: shown('odd') })

  it('keeps the code of its own error', async () => {
    const registry = registryWith(
      odd('Odd', async () => {
        throw new WorkloadError('media-unavailable', 'no such picture', { location: 'here' })
      }),
    )
    expect(await failureOf(oddPrompt, { registry })).toMatchObject({
      ...{ code: 'media-unavailable', message: 'no such picture' },
      facts: { location: 'here', nodeId: 'odd', nodeType: 'Odd' },
    })
  })

  it('that finds no memory is tried once more when some has been freed', async () => {
    let [calls, freed] = [0, 0]
    const freeMemory = async () => {
      freed += 1
    }
    const needing = (times: number, error: Error) => ({
      freeMemory,
      registry: registryWith(
        odd('Odd', async () => {
          calls += 1
          if (calls <= times) throw error
          return [calls]
        }),
      ),
    })
    const noMemory = new WorkloadError('out-of-memory', 'the network failed: out of memory')
    expect((await run(oddPrompt, needing(1, noMemory))).emitted).toEqual([{ node: 's', artifacts: [2] }])
    expect(freed).toBe(1)
    calls = 0
    expect(await failureOf(oddPrompt, needing(2, noMemory))).toMatchObject({ code: 'out-of-memory' })
    expect([calls, freed]).toEqual([2, 2])
    calls = 0
    await run(oddPrompt, needing(1, new RangeError('Array buffer allocation failed')))
    expect([calls, freed]).toEqual([2, 3])
    calls = 0
    expect(await failureOf(oddPrompt, needing(1, new Error('cannot')))).toMatchObject({ code: 'execution-failed' })
    expect([calls, freed]).toEqual([1, 3])
  })

  it('fails when it returns something else than it declares', async () => {
    const registry = registryWith(odd('Odd', async () => []))
    expect(await failureOf(oddPrompt, { registry })).toMatchObject({
      message: 'Node odd (Odd): returned 0 values for 1 outputs',
    })
  })

  it('names to each prompt its own node', async () => {
    const cache = cacheOf()
    const bad = (id: string) => promptOf({ n: number(3), [id]: ['Fail', { value: ['n', 0] }], s: shown(id) })
    const errors = await Promise.all(['x', 'y'].map((id) => failureOf(bad(id), { cache })))
    expect(errors.map((error) => (error as WorkloadError).facts.nodeId)).toEqual(['x', 'y'])
  })

  it('that ends because of a cancel is no failure', async () => {
    const abort = new AbortController()
    const registry = registryWith(
      odd('Odd', async (signal) => {
        abort.abort(new Error('enough'))
        await new Promise((_resolve, reject) => signal.addEventListener('abort', reject))
      }),
    )
    const error = await failureOf(oddPrompt, { registry, signal: abort.signal })
    expect(error).toMatchObject({
      code: 'cancelled',
      message: 'the prompt was cancelled',
      cause: { message: 'enough' },
    })
    expect(await failureOf(oddPrompt, { registry, signal: AbortSignal.abort() })).toMatchObject({ code: 'cancelled' })
  })

  it('does not disturb another prompt that waits for the same node when one is cancelled', async () => {
    const cache = cacheOf()
    const abort = new AbortController()
    let calls = 0
    const registry = registryWith(
      odd('Odd', async (signal) => {
        calls++
        await new Promise((resolve) => setTimeout(resolve, 20))
        signal.throwIfAborted()
        return [5]
      }),
    )
    const cancelled = failureOf(oddPrompt, { cache, registry, signal: abort.signal })
    const other = run(oddPrompt, { cache, registry })
    setTimeout(() => abort.abort(), 10)
    expect(await cancelled).toMatchObject({ code: 'cancelled' })
    expect((await other).emitted).toEqual([{ node: 's', artifacts: [5] }])
    expect(calls).toBe(1)
  })
})
