/**
 * The bytes of `text` in base64: standard or URL alphabet, padding optional, white space ignored. Undefined when it is
 * something else; `too-large` when it would give more than `maxBytes`, which is found out before decoding.
 */
export function decodeBase64(text: string, maxBytes: number): Buffer | 'too-large' | undefined {
  const digits = /\s/.test(text) ? text.replace(/\s+/g, '') : text
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(digits)) return undefined
  const length = digits.indexOf('=') < 0 ? digits.length : digits.indexOf('=')
  if (length % 4 === 1) return undefined
  if (Math.floor((length * 3) / 4) > maxBytes) return 'too-large'
  return Buffer.from(digits, 'base64')
}
