/** Headers with which stores tell the SHA-256 of a whole file, and how they write it. */
const sources: readonly (readonly [header: string, form: RegExp, encoding: 'hex' | 'base64'])[] = [
  ['x-linked-etag', /^"?([0-9a-f]{64})"?$/i, 'hex'], // Hugging Face, on the way to its file store
  ['x-amz-checksum-sha256', /^([A-Za-z0-9+/]{43}=)$/, 'base64'], // S3; of parts put together it ends in a count
  ['repr-digest', /(?:^|[\s,])sha-256=:([A-Za-z0-9+/]{43}=):/i, 'base64'], // RFC 9530
]

/** The SHA-256 in hex that an answer's headers promise of the file, if they do. */
export function publishedHash(headers: { get(name: string): string | null }): string | undefined {
  for (const [header, form, encoding] of sources) {
    const [, digits] = form.exec(headers.get(header) ?? '') ?? []
    if (digits !== undefined) return Buffer.from(digits, encoding).toString('hex')
  }
  return undefined
}
