import { expect, it } from 'vitest'
import { withFloats } from '../../../src/workload/graph/with-floats.ts'
import { asciiJson } from '../../../src/workload/image/png-text.ts'
import imageAddNoise from '../../../src/workload/nodes/image-add-noise.ts'

it('writes numbers of FLOAT inputs as floats and leaves everything else as it came', () => {
  const prompt = {
    '1': { class_type: 'ImageAddNoise', inputs: { image: ['2', 0], seed: 5, strength: 1 }, _meta: { title: 'x' } },
    '2': { class_type: 'Unknown', inputs: { strength: 1 } },
  }
  const registry = new Map([[imageAddNoise.type, imageAddNoise]])
  expect(asciiJson(withFloats(prompt, registry))).toBe(
    '{"1": {"class_type": "ImageAddNoise", "inputs": {"image": ["2", 0], "seed": 5, "strength": 1.0}, ' +
      '"_meta": {"title": "x"}}, "2": {"class_type": "Unknown", "inputs": {"strength": 1}}}',
  )
})
