import { describe, expect, it } from 'vitest'
import { pythonFloat } from '../../../src/workload/base/python-number.ts'
import { coerce, PythonError } from '../../../src/workload/graph/coerce.ts'
import { pythonRepr, pythonStr } from '../../../src/workload/graph/python-repr.ts'
import type { WidgetType } from '../../../src/workload/graph/widget.ts'

const result = (type: Exclude<WidgetType, 'COMBO'>, value: unknown) => {
  try {
    return coerce(type, value)
  } catch (error) {
    if (!(error instanceof PythonError)) throw error
    return `${error.name}: ${error.message}`
  }
}
const notAnInteger = (quoted: string) => `ValueError: invalid literal for int() with base 10: ${quoted}`
const notANumber = (type: string) => `TypeError: float() argument must be a string or a real number, not '${type}'`
const tooLong =
  'ValueError: Exceeds the limit (4300 digits) for integer string conversion: value has 4301 digits; ' +
  'use sys.set_int_max_str_digits() to increase the limit'

describe('literals become what Python makes of them', () => {
  it.each([
    [5, 5],
    [-2.9, -2],
    [-0.5, 0],
    [true, 1],
    [' 1_000\n', 1000],
    ['-7', -7],
    ['+7', 7],
    [2 ** 53, 2n ** 53n],
    [18446744073709551615n, 18446744073709551615n],
    ['18446744073709551615', 18446744073709551615n],
    [12n, 12],
    [1e30, 1000000000000000019884624838656n],
    ['abc', notAnInteger("'abc'")],
    ['5.0', notAnInteger("'5.0'")],
    ['', notAnInteger("''")],
    ['1__0', notAnInteger("'1__0'")],
    ['x'.repeat(300), notAnInteger(`'${'x'.repeat(199)}`)],
    ['9'.repeat(4301), tooLong],
    [Infinity, 'OverflowError: cannot convert float infinity to integer'],
    [Number.NaN, 'ValueError: cannot convert float NaN to integer'],
    [null, "TypeError: int() argument must be a string, a bytes-like object or a real number, not 'NoneType'"],
    [{}, "TypeError: int() argument must be a string, a bytes-like object or a real number, not 'dict'"],
  ])('int(%s) is %s', (value, expected) => expect(result('INT', value)).toBe(expected))

  it.each([
    [5, 5],
    ['1_0.5_0e1_0', 1.05e11],
    ['.5', 0.5],
    ['5.', 5],
    ['-Infinity', -Infinity],
    [' NaN ', Number.NaN],
    [false, 0],
    [2n ** 64n, 2 ** 64],
    ['x', "ValueError: could not convert string to float: 'x'"],
    ['.', "ValueError: could not convert string to float: '.'"],
    ['1e', "ValueError: could not convert string to float: '1e'"],
    ['0x1', "ValueError: could not convert string to float: '0x1'"],
    [10n ** 400n, 'OverflowError: int too large to convert to float'],
    [null, notANumber('NoneType')],
    [[], notANumber('list')],
  ])('float(%s) is %s', (value, expected) => expect(result('FLOAT', value)).toBe(expected))

  it.each([
    ['false', true],
    ['', false],
    [0, false],
    [Number.NaN, true],
    [null, false],
    [{}, false],
    [{ a: 1 }, true],
    [0n, false],
  ])('bool(%s) is %s', (value, expected) => expect(result('BOOLEAN', value)).toBe(expected))

  it.each([
    ['as it is', 'as it is'],
    [5, '5'],
    [0.1, '0.1'],
    [null, 'None'],
    [{ a: [true, 'b'] }, "{'a': [True, 'b']}"],
  ])('str(%s) is %s', (value, expected) => expect(result('STRING', value)).toBe(expected))
})

describe('values print as Python prints them', () => {
  it.each([
    [1e16, '1e+16'],
    [1e15, '1000000000000000.0'],
    [123456789012345.6, '123456789012345.6'],
    [1e-4, '0.0001'],
    [1e-5, '1e-05'],
    [-0.00012, '-0.00012'],
    [1.5e300, '1.5e+300'],
    [5e-324, '5e-324'],
    [100, '100.0'],
    [-0, '-0.0'],
    [-Infinity, '-inf'],
    [Number.NaN, 'nan'],
  ])('float %d', (value, expected) => expect(pythonFloat(value)).toBe(expected))

  it.each([
    ["it's", '"it\'s"'],
    ['\'"', "'\\'\"'"],
    ['a\\b\n\t\x7f', "'a\\\\b\\n\\t\\x7f'"],
    ['\u00a0\u200b\u3000é 😀\u{e0001}', "'\\xa0\\u200b\\u3000é 😀\\U000e0001'"],
    ['\ud800', "'\\ud800'"],
    [[1, 2.5, 2n ** 64n, null], '[1, 2.5, 18446744073709551616, None]'],
    [2 ** 60, '1.152921504606847e+18'],
    [{ "a'b": false }, '{"a\'b": False}'],
  ])('%s', (value, expected) => expect(pythonRepr(value)).toBe(expected))

  it('prints whatever nests, however deep', () => {
    let deep: unknown = 0
    for (let i = 0; i < 100_000; i++) deep = [deep]
    expect(pythonStr(deep)).toMatch(/^\[+\.\.\.\]+$/)
  })
})
