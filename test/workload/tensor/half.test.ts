import { Float16Array } from '@petamoriken/float16'
import { expect, it } from 'vitest'
import { fromBfloat16, fromFloat16 } from '../../../src/workload/tensor/half.ts'

it('reads every half-precision number there is', () => {
  const bits = Uint16Array.from({ length: 65_536 }, (_, i) => i)
  expect([...fromFloat16(bits)]).toEqual([...new Float16Array(bits.buffer)])
})

it('reads bfloat16 as the upper half of a float32', () => {
  expect([...fromBfloat16(Uint16Array.of(0x3f80, 0xc020, 0x7f80))]).toEqual([1, -2.5, Number.POSITIVE_INFINITY])
})
