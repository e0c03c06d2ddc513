const DIGITS = String.raw`\d(?:_?\d)*`
const DECIMAL = new RegExp(String.raw`^[+-]?(?:${DIGITS}(?:\.(?:${DIGITS})?)?|\.${DIGITS})(?:e[+-]?${DIGITS})?$`, 'i')
const NAMED = /^([+-]?)(?:(inf(?:inity)?)|nan)$/i

/**
 * The number Python's `float()` reads in `text`, or undefined where it raises: weights in prompts are written for it.
 * Takes `1e3`, `.5`, `5.`, `1_000`, `inf`, `nan`, digits of every script, and space around them.
 */
export function parsePythonFloat(text: string): number | undefined {
  const plain = text.trim().replace(/[^\P{Nd}0-9]/gu, digitOf)
  if (DECIMAL.test(plain)) return Number(plain.replaceAll('_', ''))
  const named = NAMED.exec(plain)
  if (!named) return undefined
  const [, sign, infinity] = named
  if (!infinity) return Number.NaN
  return sign === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
}

/** The ASCII digit of a decimal digit: Unicode keeps the ten of a script together, in order. */
function digitOf(digit: string): string {
  const code = digit.codePointAt(0)!
  let below = code - 1
  while (/\p{Nd}/u.test(String.fromCodePoint(below))) below--
  return String((code - below - 1) % 10)
}
