/** A number that ONNX is to store as a float although it may be whole. */
export interface Float {
  readonly float: number
}

/** Integers and lists of them as they are, floats through `float`, texts as strings. */
export type AttributeValue = number | readonly number[] | string | Float

/** Marks an attribute as a float. */
export const float = (value: number): Float => ({ float: value })

const INT = 2
const FLOAT = 1
const STRING = 3
const INTS = 7

/** The AttributeProto of one attribute. */
export function attributeProto(name: string, value: AttributeValue): object {
  if (typeof value === 'number') return { name, type: INT, i: value }
  if (typeof value === 'string') return { name, type: STRING, s: new TextEncoder().encode(value) }
  if ('float' in value) return { name, type: FLOAT, f: value.float }
  return { name, type: INTS, ints: value }
}
