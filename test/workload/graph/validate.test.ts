import { describe, expect, it } from 'vitest'
import type { NodeFault } from '../../../src/contracts/problem.ts'
import type { Prompt } from '../../../src/contracts/prompt.ts'
import { WorkloadError } from '../../../src/workload/base/errors.ts'
import { validate } from '../../../src/workload/graph/validate.ts'
import { promptOf, toyNodes } from '../../support/toy-nodes.ts'

const host = { files: ['new.png'] }
const check = (prompt: Prompt) => validate(prompt, toyNodes, host)
const refusalOf = (prompt: Prompt): Promise<WorkloadError> =>
  check(prompt).then(
    () => Promise.reject(new Error('was accepted')),
    (error: unknown) => (error instanceof WorkloadError ? error : Promise.reject(error)),
  )
const shown = (id: string) => ['Show', { value: [id, 0] }] as const
/** The faults of one node of class `type`, which an output shows. */
async function faultsOf(type: string, inputs: Readonly<Record<string, unknown>>): Promise<readonly NodeFault[]> {
  const { facts } = await refusalOf(promptOf({ n: [type, inputs], number: ['Number', { value: 1 }], s: shown('n') }))
  expect(facts.graphFault).toMatchObject({ type: 'prompt_outputs_failed_validation', details: '' })
  return facts.nodeErrors!.n!.errors
}
const sound = { seed: 0, steps: 20, cfg: 8, mode: 'euler' }
const widgetFault = async (input: string, value: unknown) => {
  const faults = await faultsOf('Widgets', { ...sound, [input]: value })
  expect(faults).toHaveLength(1)
  return faults[0]!
}
const NUMBER = ['NUMBER', {}]
const STEPS = ['INT', { default: 20, min: 1, max: 10_000 }]
const CFG = ['FLOAT', { default: 8, min: 0, max: 100, step: 0.1 }]

describe('a fault of one input', () => {
  it('required_input_missing', async () => {
    expect(await faultsOf('Add', {})).toEqual([
      {
        type: 'required_input_missing',
        message: 'Required input is missing',
        details: 'a',
        extra_info: { input_name: 'a' },
      },
    ])
  })

  it.each([[['number']], [['number', 0, 0]], [[]]])('bad_linked_input: %j', async (link) => {
    expect(await faultsOf('Add', { a: link })).toEqual([
      {
        type: 'bad_linked_input',
        message: 'Bad linked input, must be a length-2 list of [node_id, slot_index]',
        details: 'a',
        extra_info: { input_name: 'a', input_config: NUMBER, received_value: link },
      },
    ])
  })

  it.each([5, 'number', null, { a: 1 }])('bad_linked_input: %j where only a wire will do', async (literal) => {
    expect(await faultsOf('Add', { a: literal })).toMatchObject([
      { type: 'bad_linked_input', extra_info: { received_value: literal } },
    ])
  })

  it('return_type_mismatch', async () => {
    expect(await faultsOf('Widgets', { ...sound, steps: ['number', 0] })).toEqual([
      {
        type: 'return_type_mismatch',
        message: 'Return type mismatch between linked nodes',
        details: 'steps, received_type(NUMBER) mismatch input_type(INT)',
        extra_info: {
          input_name: 'steps',
          input_config: STEPS,
          received_type: 'NUMBER',
          linked_node: ['number', 0],
        },
      },
    ])
    expect(await faultsOf('Widgets', { ...sound, mode: ['number', -1] })).toMatchObject([
      { details: "mode, received_type(NUMBER) mismatch input_type(['euler', 'heun'])" },
    ])
    expect(await faultsOf('Choices', { few: ['number', 0] })).toMatchObject([
      { details: 'few, received_type(NUMBER) mismatch input_type(COMBO)' },
    ])
  })

  it('invalid_input_type', async () => {
    expect(await widgetFault('steps', 'abc')).toEqual({
      type: 'invalid_input_type',
      message: 'Failed to convert an input value to a INT value',
      details: "steps, abc, invalid literal for int() with base 10: 'abc'",
      extra_info: {
        input_name: 'steps',
        input_config: STEPS,
        received_value: 'abc',
        exception_message: "invalid literal for int() with base 10: 'abc'",
      },
    })
    expect(await widgetFault('cfg', { __value__: null })).toMatchObject({
      message: 'Failed to convert an input value to a FLOAT value',
      details: "cfg, None, float() argument must be a string or a real number, not 'NoneType'",
    })
  })

  it.each([
    ['steps', 0, 'value_smaller_than_min', 'Value 0 smaller than min of 1', STEPS, 0],
    ['steps', '10001', 'value_bigger_than_max', 'Value 10001 bigger than max of 10000', STEPS, 10_001],
    ['cfg', -1, 'value_smaller_than_min', 'Value -1.0 smaller than min of 0.0', CFG, -1],
    ['cfg', '1e3', 'value_bigger_than_max', 'Value 1000.0 bigger than max of 100.0', CFG, 1000],
  ])('%s %j: %s', async (input, value, type, message, config, received) => {
    const extra = { input_name: input, input_config: config, received_value: received }
    expect(await widgetFault(input, value)).toEqual({ type, message, details: input, extra_info: extra })
  })

  it('holds seeds to 64 bits exactly', async () => {
    expect(
      (await check(promptOf({ n: ['Widgets', { ...sound, seed: 2n ** 64n - 1n }], s: shown('n') }))).outputs,
    ).toEqual(['s'])
    expect(await widgetFault('seed', 2n ** 64n)).toMatchObject({
      message: 'Value 18446744073709551616 bigger than max of 18446744073709551615',
    })
  })

  it('value_not_in_list', async () => {
    const config = [['euler', 'heun'], {}]
    expect(await widgetFault('mode', 'magic')).toEqual({
      type: 'value_not_in_list',
      message: 'Value not in list',
      details: "mode: 'magic' not in ['euler', 'heun']",
      extra_info: { input_name: 'mode', input_config: config, received_value: 'magic' },
    })
    expect(await faultsOf('Choices', { few: '1' })).toMatchObject([
      {
        details: "few: '1' not in [1, 'two', True]",
        extra_info: { input_config: ['COMBO', { multiselect: false, options: [1, 'two', true] }] },
      },
    ])
    expect(await faultsOf('Choices', { many: 'file 21' })).toMatchObject([
      { details: "many: 'file 21' not in (list of length 21)", extra_info: { input_config: null } },
    ])
    expect(await faultsOf('Choices', { several: { __value__: ['a', 'x', 5] } })).toMatchObject([
      { details: "several: 'x', 5 not in ['a', 'b']", extra_info: { received_value: ['a', 'x', 5] } },
    ])
  })

  it('custom_validation_failed, once for each input that was passed', async () => {
    expect(await faultsOf('File', { file: 'nope.png' })).toEqual([
      {
        type: 'custom_validation_failed',
        message: 'Custom validation failed for node',
        details: 'file - Invalid image file: nope.png',
        extra_info: { input_name: 'file' },
      },
    ])
    expect(await faultsOf('File', { file: 'nope.png', other: 5 })).toMatchObject([
      { details: 'file - Invalid image file: nope.png' },
      { details: 'other - Invalid image file: nope.png' },
    ])
  })
})

describe('what is no fault', () => {
  const accepted = async (type: string, inputs: Readonly<Record<string, unknown>>) => {
    const prompt = promptOf({ n: [type, inputs], number: ['Number', { value: '1' }], s: shown('n') })
    return (await check(prompt)).prompt.n!.inputs
  }

  it('literals that Python would convert, which the prompt then holds', async () => {
    const given = { seed: '18446744073709551615', steps: 2.9, cfg: true, text: 5, flag: 'false', mode: 'heun' }
    expect(await accepted('Widgets', given)).toEqual({
      ...{ seed: 18446744073709551615n, steps: 2, cfg: 1, text: '5', flag: true, mode: 'heun' },
    })
    expect(given.seed).toBe('18446744073709551615')
    expect(await accepted('Widgets', { ...sound, steps: { __value__: '7' } })).toMatchObject({ steps: 7 })
  })

  it('inputs nobody declared, and hidden ones, whatever they hold', async () => {
    const stray = { __proto__: null, constructor: ['nowhere', 9], deep: { __value__: [] } }
    expect(await accepted('Whoami', { id: [1, 2, 3], ...stray })).toEqual({ id: [1, 2, 3], ...stray })
  })

  it('an optional input that is missing or null', async () => {
    expect(await accepted('Add', { a: ['number', 0], b: null })).toEqual({ a: ['number', 0], b: null })
  })

  it.each([
    ['few', 1, 1],
    ['few', true, 1],
    ['many', 'file 20', 'file 20'],
    ['several', { __value__: ['b', 'a'] }, ['b', 'a']],
    ['several', 'a', 'a'],
    ['remote', 'anything', 'anything'],
  ])('the choice %s %j', async (input, value, chosen) => {
    expect(await accepted('Choices', { [input]: value })).toEqual({ [input]: chosen })
  })

  it('a file that came after the list was made: its node answers for it', async () => {
    expect(await accepted('File', { file: 'new.png' })).toEqual({ file: 'new.png' })
  })

  it('slots from the end or by a truth value, which the prompt then counts from the start', async () => {
    const prompt = promptOf({
      split: ['Split', {}],
      add: ['Add', { a: ['split', -1], b: ['split', true] }],
      s: shown('add'),
    })
    prompt.split!.inputs.count = 3
    expect((await check(prompt)).prompt.add!.inputs).toEqual({ a: ['split', 1], b: ['split', 1] })
    expect(prompt.add!.inputs).toEqual({ a: ['split', -1], b: ['split', true] })
  })

  it('a wire of which one type agrees, and any wire with *', async () => {
    expect(await accepted('Either', { value: ['number', 0] })).toEqual({ value: ['number', 0] })
    expect(await accepted('Anything', { value: ['number', 0] })).toEqual({ value: ['number', 0] })
    expect(await accepted('Anything', { value: { __value__: 'literal' } })).toEqual({ value: 'literal' })
    const any = promptOf({ any: ['Anything', { value: 1 }], e: ['Either', { value: ['any', 0] }], s: shown('e') })
    expect((await check(any)).outputs).toEqual(['s'])
    const { facts } = await refusalOf(
      promptOf({
        e: ['Either', { value: ['number', 0] }],
        number: ['Number', { value: 1 }],
        a: ['Add', { a: ['e', 0] }],
        s: shown('a'),
      }),
    )
    expect(facts.nodeErrors!.a!.errors).toMatchObject([
      { details: 'a, received_type(TEXT,IMAGE) mismatch input_type(NUMBER)' },
    ])
  })

  it('a literal that looks like a link, as long as it stays wrapped', async () => {
    const wrapped = { __value__: ['nowhere', 0] }
    expect(await accepted('Anything', { value: wrapped })).toEqual({ value: wrapped })
  })
})
