/** ONNX's numbers for the element types that are written here. */
export const dataType = {
  float32: 1,
  uint8: 2,
  int8: 3,
  int32: 6,
  int64: 7,
  float16: 10,
  float64: 11,
  bfloat16: 16,
  float8e4m3: 17,
  float8e5m2: 19,
} as const

export type ElementType = keyof typeof dataType
