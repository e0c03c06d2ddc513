import { Float16Array } from '@petamoriken/float16'
import { expect, it } from 'vitest'
import { fromBfloat16, fromFloat16, toFloat16 } from '../../../src/workload/tensor/half.ts'

it('reads every half-precision number there is', () => {
  const bits = Uint16Array.from({ length: 65_536 }, (_, i) => i)
  expect([...fromFloat16(bits)]).toEqual([...new Float16Array(bits.buffer)])
})

it('rounds to half precision as the standard does, at every number there is and between', () => {
  const numbers = fromFloat16(Uint16Array.from({ length: 65_536 }, (_, i) => i))
  const between = numbers.map((value) => value * (1 + 2 ** -11))
  const values = Float32Array.of(...[0, -0, 65_519, 65_520, -65_520, 2 ** -25, 2 ** -24 * 1.5, 1e-30, 1e30])
  for (const all of [numbers, between, values])
    expect([...fromFloat16(toFloat16(all))]).toEqual([...Float16Array.from(all)])
})

it('reads bfloat16 as the upper half of a float32', () => {
  expect([...fromBfloat16(Uint16Array.of(0x3f80, 0xc020, 0x7f80))]).toEqual([1, -2.5, Number.POSITIVE_INFINITY])
})
