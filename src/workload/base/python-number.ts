/**
 * A number as Python writes a float: the shortest digits that read back as it, with `.0` for whole numbers and an
 * exponent of at least two digits outside 1e-4 to 1e16.
 */
export function pythonFloat(value: number): string {
  if (Number.isNaN(value)) return 'nan'
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf'
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0'
  const [mantissa = '', power = ''] = value.toExponential().split('e')
  const exponent = Number(power)
  if (exponent < -4 || exponent >= 16) {
    return `${mantissa}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`
  }
  const sign = value < 0 ? '-' : ''
  const digits = mantissa.replace(/[-.]/g, '')
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, '0')
  return `${sign}${whole}.${digits.slice(exponent + 1) || '0'}`
}

/** Whether JSON wrote an integer: those beyond ±2^53 arrive as bigint, so a number of that size had a fraction or an exponent. */
export function isPythonInt(value: number): boolean {
  return Number.isSafeInteger(value) && !Object.is(value, -0)
}

/** A number that Python would write with a fraction even if it has none. */
export class PythonFloat {
  readonly value: number

  constructor(value: number) {
    this.value = value
  }
}
