import { describe, expect, it } from 'vitest'
import { blurred, unitGaussian } from '../../../src/workload/tensor/blur.ts'
import { filled, mapped, zeros } from '../../../src/workload/tensor/tensor.ts'

describe('a blurred picture', () => {
  it('is that of a convolution over the mirrored picture', () => {
    const waves = mapped(zeros([1, 1, 5, 4]), (_, i) => Math.sin(1.3 * i))
    const { data } = blurred(waves, unitGaussian(3, 0.8))
    // PyTorch's pad (reflect) and conv2d with the outer product of the kernel with itself.
    const expected = [0.0498153, 0.0839839, 0.1058109, 0.1108025]
    for (const [i, value] of expected.entries()) expect(data[i]).toBeCloseTo(value, 6)
    for (const [i, value] of [
      [6, 0.0804379],
      [10, -0.0201702],
      [18, -0.1635564],
      [19, -0.1232799],
    ] as const)
      expect(data[i]).toBeCloseTo(value, 6)
  })

  it('keeps what is even, in every plane', () => {
    const even = mapped(filled([2, 2, 3, 4], 1), (_, i) => Math.floor(i / 12))
    const { data } = blurred(even, unitGaussian(2, 1))
    for (const [i, value] of data.entries()) expect(value).toBeCloseTo(even.data[i]!, 6)
  })

  it('needs more pixels than the kernel reaches', () => {
    expect(() => blurred(zeros([1, 1, 3, 9]), unitGaussian(3, 1))).toThrow('a radius of 3 is too large for 9×3')
  })
})
