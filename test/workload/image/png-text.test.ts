import sharp from 'sharp'
import { expect, it } from 'vitest'
import { PythonFloat } from '../../../src/workload/base/python-number.ts'
import { asciiJson, withTexts } from '../../../src/workload/image/png-text.ts'

const png = await sharp({ create: { width: 3, height: 2, channels: 3, background: 'red' } })
  .png()
  .toBuffer()

it('puts texts into a PNG where others find them, and leaves the picture as it was', async () => {
  const prompt = { '3': { class_type: 'KSampler', inputs: { seed: 18446744073709551615n, cfg: 7.5, model: ['4', 0] } } }
  const file = withTexts(png, { prompt, workflow: { title: 'Grüße 🎨' } })
  expect((await sharp(file).metadata()).comments).toEqual([
    {
      keyword: 'prompt',
      text: '{"3": {"class_type": "KSampler", "inputs": {"seed": 18446744073709551615, "cfg": 7.5, "model": ["4", 0]}}}',
    },
    { keyword: 'workflow', text: '{"title": "Gr\\u00fc\\u00dfe \\ud83c\\udfa8"}' },
  ])
  expect(await sharp(file, { failOn: 'warning' }).raw().toBuffer()).toEqual(await sharp(png).raw().toBuffer())
})

it('leaves out keys that no PNG can hold', async () => {
  const file = withTexts(png, { '': 1, ['x'.repeat(80)]: 2, 'a\0b': 3, ' a': 4, 漢: 5, absent: undefined, good: 6 })
  expect((await sharp(file).metadata()).comments).toEqual([{ keyword: 'good', text: '6' }])
})

it('writes JSON as Python does', () => {
  expect(asciiJson([5, new PythonFloat(5), 1e-7, 1e16, 2n ** 64n, 0.1, Number.POSITIVE_INFINITY, '\x7f/'])).toBe(
    '[5, 5.0, 1e-07, 1e+16, 18446744073709551616, 0.1, Infinity, "\\u007f/"]',
  )
  expect(asciiJson({ a: [1, 'b\n"\\', null, true], 'ö/': {}, e: [], n: -0.5 })).toBe(
    '{"a": [1, "b\\n\\"\\\\", null, true], "\\u00f6/": {}, "e": [], "n": -0.5}',
  )
})
