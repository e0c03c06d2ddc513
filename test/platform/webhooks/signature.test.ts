import { describe, expect, it } from 'vitest'
import { isPublic } from '../../../src/platform/webhooks/public-addresses.ts'
import { signatureOf } from '../../../src/platform/webhooks/signature.ts'

describe('signature', () => {
  it('is that of the reference', () => {
    const body =
      '{"type":"queue.job.succeeded","timestamp":"2025-01-01T00:00:00.000Z","data":{"id":"5d1f7c0e-8a55-4f0e-9d1b-6f0d0c6f2a10","status":"succeeded"}}'
    const message = { id: 'msg_2Lh9KRb0pzN4LePd3XiA4v', timestamp: 1735689600, body }
    expect(signatureOf('AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=', message)).toBe(
      'v1,WK8A2BPcvxb2BCPqVS74w2GcNo+Q7uG2qjk0AcO3dDI=',
    )
  })
})

describe('public addresses', () => {
  it.each(['1.1.1.1', '93.184.215.14', '2606:4700::1111', '::ffff:1.1.1.1'])('%s is one', (address) => {
    expect(isPublic(address)).toBe(true)
  })

  it.each([
    '127.0.0.1',
    '0.0.0.0',
    '10.1.2.3',
    '172.16.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    'fe80::1',
    'fd00::1',
    'ff02::1',
    '::ffff:127.0.0.1',
    '::7f00:1',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
  ])('%s is none', (address) => {
    expect(isPublic(address)).toBe(false)
  })
})
