import { describe, expect, it } from 'vitest'
import { createResultCache } from '../../../src/workload/graph/cache.ts'
import { execute } from '../../../src/workload/graph/execute.ts'
import { validate } from '../../../src/workload/graph/validate.ts'
import caseConverter from '../../../src/workload/nodes/case-converter.ts'
import emptyImage from '../../../src/workload/nodes/empty-image.ts'
import getImageSize from '../../../src/workload/nodes/get-image-size.ts'
import imageAddNoise from '../../../src/workload/nodes/image-add-noise.ts'
import previewAny from '../../../src/workload/nodes/preview-any.ts'
import primitiveBoolean from '../../../src/workload/nodes/primitive-boolean.ts'
import primitiveFloat from '../../../src/workload/nodes/primitive-float.ts'
import primitiveInt from '../../../src/workload/nodes/primitive-int.ts'
import primitiveString from '../../../src/workload/nodes/primitive-string.ts'
import primitiveStringMultiline from '../../../src/workload/nodes/primitive-string-multiline.ts'
import regexExtract from '../../../src/workload/nodes/regex-extract.ts'
import regexMatch from '../../../src/workload/nodes/regex-match.ts'
import regexReplace from '../../../src/workload/nodes/regex-replace.ts'
import stringCompare from '../../../src/workload/nodes/string-compare.ts'
import stringConcatenate from '../../../src/workload/nodes/string-concatenate.ts'
import stringContains from '../../../src/workload/nodes/string-contains.ts'
import stringLength from '../../../src/workload/nodes/string-length.ts'
import stringReplace from '../../../src/workload/nodes/string-replace.ts'
import stringSubstring from '../../../src/workload/nodes/string-substring.ts'
import stringTrim from '../../../src/workload/nodes/string-trim.ts'
import { zeros } from '../../../src/workload/tensor/tensor.ts'
import { type AnyNode, firstOf, nodeRoom } from '../../support/node-room.ts'

describe('primitives', () => {
  it.each<[AnyNode, unknown]>([
    [primitiveString, 'a'],
    [primitiveStringMultiline, 'a\nb'],
    [primitiveInt, 2n ** 63n - 1n],
    [primitiveFloat, 0.1],
    [primitiveBoolean, false],
  ])('%o hands on its value', async (node, value) => {
    expect(await firstOf(node, { value })).toBe(value)
  })

  it('reach widgets of every width: seeds exactly, sizes as numbers, and text views', async () => {
    const { context, images } = await nodeRoom()
    const nodes = [primitiveInt, emptyImage, imageAddNoise, getImageSize, previewAny]
    const registry = new Map(nodes.map((node) => [node.type, node]))
    const prompt = {
      seed: { class_type: 'PrimitiveInt', inputs: { value: 2n ** 63n - 1n } },
      side: { class_type: 'PrimitiveInt', inputs: { value: 3 } },
      image: { class_type: 'EmptyImage', inputs: { width: ['side', 0], height: 5, batch_size: 1, color: 0 } },
      noisy: { class_type: 'ImageAddNoise', inputs: { image: ['image', 0], seed: ['seed', 0], strength: 0.5 } },
      size: { class_type: 'GetImageSize', inputs: { image: ['noisy', 0] } },
      again: { class_type: 'ImageAddNoise', inputs: { image: ['image', 0], seed: ['size', 1], strength: 0.5 } },
      width: { class_type: 'PreviewAny', inputs: { source: ['size', 0] } },
      value: { class_type: 'PreviewAny', inputs: { source: ['seed', 0] } },
      last: { class_type: 'PreviewAny', inputs: { source: ['again', 0] } },
    }
    const valid = await validate(prompt, registry, images)
    expect(valid.nodeErrors).toEqual({})
    const emitted = await execute({
      ...valid,
      registry,
      cache: createResultCache({ maxBytes: 1e6, sizeOf: () => 1 }),
      contextFor: (run) => ({ ...context, ...run }),
      signal: context.signal,
      pngInfo: undefined,
      onEvent: () => undefined,
    })
    expect(emitted.map(({ artifacts }) => artifacts)).toEqual(
      ['3', '9223372036854775807', 'tensor of shape [1, 5, 3, 3]'].map((text) => [
        { kind: 'text', text, retention: 'temp' },
      ]),
    )
  })
})

describe('PreviewAny shows', () => {
  it.each([
    ['a text as it is', 'a "b"', 'a "b"'],
    ['truth as Python prints it', true, 'True'],
    ['a fraction', 0.5, '0.5'],
    ['nothing', undefined, 'None'],
    ['a list as JSON', [1, 'ö', null], '[1, "\\u00f6", null]'],
    ['a tensor by its shape', zeros([1, 2]), 'tensor of shape [1, 2]'],
    ['noise levels as numbers', Float32Array.of(1, 0.5), '[1, 0.5]'],
    ['a model by no more than its kind', { network: { predict: () => undefined } }, 'object'],
  ])('%s', async (_, source, text) => {
    const { artifacts } = await previewAny.run({ source }, (await nodeRoom()).context)
    expect(artifacts).toEqual([{ kind: 'text', text, retention: 'temp' }])
  })
})

describe('texts', () => {
  it.each<[AnyNode, Readonly<Record<string, unknown>>, unknown]>([
    [stringConcatenate, { string_a: 'a', string_b: 'b', delimiter: ', ' }, 'a, b'],
    [stringSubstring, { string: 'a😀bcd', start: 1, end: 3 }, '😀b'],
    [stringSubstring, { string: 'abcd', start: -3, end: -1 }, 'bc'],
    [stringSubstring, { string: 'abcd', start: 3, end: 1 }, ''],
    [stringLength, { string: 'a😀é' }, 3],
    [caseConverter, { string: 'straße', mode: 'UPPERCASE' }, 'STRASSE'],
    [caseConverter, { string: 'ÀB', mode: 'lowercase' }, 'àb'],
    [caseConverter, { string: 'hELLO wORLD', mode: 'Capitalize' }, 'Hello world'],
    [caseConverter, { string: "they're 3rd-RATE ßa ǆb ΑΣ", mode: 'Title Case' }, "They'Re 3Rd-Rate Ssa ǅb Ας"],
    [stringTrim, { string: ' \t\x1f\u3000a b\n', mode: 'Both' }, 'a b'],
    [stringTrim, { string: ' a ', mode: 'Left' }, 'a '],
    [stringTrim, { string: ' a\ufeff ', mode: 'Right' }, ' a\ufeff'],
    [stringReplace, { string: 'a.b.c', find: '.', replace: '$&' }, 'a$&b$&c'],
    [stringReplace, { string: '😀a', find: '', replace: '-' }, '-😀-a-'],
    [stringContains, { string: 'Hello', substring: 'hell', case_sensitive: true }, false],
    [stringContains, { string: 'Hello', substring: 'hell', case_sensitive: false }, true],
    [stringCompare, { string_a: 'Hello', string_b: 'he', mode: 'Starts With', case_sensitive: false }, true],
    [stringCompare, { string_a: 'Hello', string_b: 'LO', mode: 'Ends With', case_sensitive: true }, false],
    [stringCompare, { string_a: 'a', string_b: 'A', mode: 'Equal', case_sensitive: false }, true],
  ])('%o', async (node, values, expected) => {
    expect(await firstOf(node, values)).toBe(expected)
  })
})

describe('regular expressions', () => {
  const plain = { case_insensitive: false, multiline: false, dotall: false }
  const finds = (string: string, regex_pattern: string, flags = {}) =>
    firstOf(regexMatch, { string, regex_pattern, ...plain, ...flags })
  const extract = (string: string, regex_pattern: string, mode: string, group_index = 1) =>
    firstOf(regexExtract, { string, regex_pattern, mode, group_index, ...plain })
  const replace = (string: string, regex_pattern: string, replacement: string, count = 0) =>
    firstOf(regexReplace, { string, regex_pattern, replace: replacement, count, ...plain })

  it.each([
    ['ab', '(?P<x>a)(?P=x)', false],
    ['aa', '(?P<x>a)(?P=x)', true],
    ['b\na', String.raw`\Aa`, false],
    ['a\n', 'a$', true],
    ['a\n', String.raw`a\Z`, false],
    ['a\r', 'a$', false],
    ['é', String.raw`^\w\Z`, true],
    ['٣', String.raw`^\d$`, true],
    ['é', String.raw`(?a)\w`, false],
    ['\x1c', String.raw`\s`, true],
    ['a\nb', 'a.b', false],
    ['a\nb', '(?s)a.b', true],
    ['a\nb', '(?s:a.)b', true],
    ['aB', '(?i)AB', true],
    ['a b', '(?x) a \\  b # a comment', true],
    ['a]', '[]a]{2}', true],
    ['{a}', '{a}', true],
    ['aab', '^a{,2}b', true],
    ['a-b', String.raw`a\-b`, true],
    ['A', String.raw`\x41|\101`, true],
    ['_é', String.raw`^[\W\d]`, false],
    ['a(', '(', false],
    ['q', String.raw`\q`, false],
    ['a', '(?<x>a)', false],
    ['a', 'b(?i)a', false],
    ['aa', 'a**', false],
  ])('in %j %s is found: %s', async (text, pattern, expected) => {
    expect(await finds(text, pattern)).toBe(expected)
  })

  it('follow their flags', async () => {
    expect(await finds('b\na', '^A$', { case_insensitive: true, multiline: true })).toBe(true)
    expect(await finds('b\na', 'b.a', { dotall: true })).toBe(true)
  })

  it('extract as each mode says', async () => {
    const modes = ['First Match', 'All Matches', 'First Group', 'All Groups']
    const all = (pattern: string, group?: number) =>
      Promise.all(modes.map((mode) => extract('a1 b2', pattern, mode, group)))
    expect(await all(String.raw`(\w)(\d)`, 2)).toEqual(['a1', 'a\nb', '1', '1\n2'])
    expect(await all(String.raw`\d`)).toEqual(['1', '1\n2', '', ''])
    expect(await all('x')).toEqual(['', '', '', ''])
    expect(await all('(')).toEqual(['', '', '', ''])
  })

  it.each([
    ['a1b2', String.raw`(\w)(?P<n>\d)`, String.raw`\g<n>\1\g<0>-`, 0, '1aa1-2bb2-'],
    ['aaa', 'a', '$&', 2, '$&$&a'],
    ['abxd', 'x*', '-', 0, '-a-b--d-'],
    ['a', 'a', String.raw`\n\\\101`, 0, '\n\\A'],
    ['ab', '(a)|b', String.raw`[\1]`, 0, '[a][]'],
  ])('replace in %j what %s finds by %s', async (text, pattern, replacement, count, expected) => {
    expect(await replace(text, pattern, replacement, count)).toBe(expected)
  })

  it('say what they cannot do', async () => {
    await expect(replace('a', '(', 'b')).rejects.toThrow('"(" is no valid regular expression')
    await expect(replace('a', 'a', String.raw`\1`)).rejects.toThrow('a group 1, which')
    await expect(replace('a', 'a', String.raw`\q`)).rejects.toThrow(String.raw`an escape \q`)
    for (const pattern of ['a++', '(?>a)', '(a)(?(1)b|c)', 'b(?i:a)'])
      await expect(finds('a', pattern)).rejects.toThrow('this server knows no')
  })

  it('end a search that would take years', async () => {
    await expect(finds(`${'a'.repeat(60)}b`, '^(a+)+$')).rejects.toThrow('took longer than 1 s')
  })
})
