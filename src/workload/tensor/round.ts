/** The nearest whole number, a half to the even one: how Python and IEEE 754 round, and hence every size in ComfyUI. */
export function roundHalfEven(value: number): number {
  const below = Math.floor(value)
  const rest = value - below
  if (rest !== 0.5) return rest < 0.5 ? below : below + 1
  return below % 2 === 0 ? below : below + 1
}
