import { expect, it } from 'vitest'
import { ownHeaders } from '../../../src/workload/media/own-headers.ts'
import { publishedHash } from '../../../src/workload/media/published-hash.ts'

const hex = '00ff'.repeat(16)
const base64 = Buffer.from(hex, 'hex').toString('base64')

it.each([
  ['x-linked-etag', `"${hex}"`, hex],
  ['x-amz-checksum-sha256', base64, hex],
  ['repr-digest', `sha-512=:AAAA:, sha-256=:${base64}:`, hex],
  ['x-amz-checksum-sha256', `${base64}-12`, undefined],
  ['x-linked-etag', '"5d41402abc4b2a76b9719d911017c592"', undefined],
  ['etag', `"${hex}"`, undefined],
])('reads from %s: %s the SHA-256 %s', (header, value, sha256) => {
  expect(publishedHash(new Headers({ [header]: value }))).toBe(sha256)
})

it('shows a token to Hugging Face and a header to listed hosts, and to nobody else', () => {
  const authHeader = { name: 'X-Key', value: 'v', hosts: ['*.models.test'] }
  const headersFor = ownHeaders({ authHeader, hfToken: 't' })
  const asked = [
    'https://huggingface.co/a',
    'http://huggingface.co/a',
    'https://cdn.huggingface.co/a',
    'https://a.models.test/b',
  ]
  expect(asked.map((url) => headersFor(new URL(url)))).toEqual([
    { authorization: 'Bearer t' },
    {},
    {},
    { 'x-key': 'v' },
  ])
})
