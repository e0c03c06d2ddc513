import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { addressRules } from '../../../src/workload/media/address-rules.ts'
import { download } from '../../../src/workload/media/download.ts'
import { createOutbound, type Lookup } from '../../../src/workload/media/outbound.ts'

/** A loopback address that the tests' rules make an exception for; the others stay forbidden. */
const ALLOWED = '127.0.0.2'

/** A server on every local address, on a free port. */
async function site(answer: RequestListener): Promise<number> {
  const server = createServer(answer).listen(0, '::')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port // a TCP server has no other kind
}

/** A name service that knows these hosts only. A list is gone through, one entry a question. */
const names =
  (hosts: Readonly<Record<string, readonly string[]>>): Lookup =>
  (host, _options, done) => {
    const answers = hosts[host]
    if (!answers) return done(Object.assign(new Error('unknown host'), { code: 'ENOTFOUND' }), [])
    const address = (answers as string[]).length > 1 ? (answers as string[]).shift()! : answers[0]!
    done(null, [{ address, family: address.includes(':') ? 6 : 4 }])
  }

const reading = (hosts: Readonly<Record<string, readonly string[]>> = {}, exceptions = [ALLOWED]) => {
  const outbound = createOutbound(addressRules(exceptions), names({ localhost: ['127.0.0.1'], ...hosts }))
  return (url: string, maxBytes = 1000) => download(outbound, url, maxBytes)
}
const refused = { code: 'url-not-allowed' }

describe('addresses', () => {
  const { allowsAddress } = addressRules([])
  it.each([
    ...['127.0.0.1', '127.255.255.254', '0.0.0.0', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
    ...['169.254.169.254', '169.254.0.1', '100.64.0.1', '100.127.255.255', '192.0.0.8', '198.18.0.1', '192.0.2.1'],
    ...['224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255'],
    ...['::1', '::', 'fe80::1', 'fc00::1', 'fd12:3456::1', 'ff02::1', '::ffff:127.0.0.1', '::ffff:10.0.0.1'],
    ...['64:ff9b::7f00:1', '64:ff9b::a9fe:a9fe', '2002:7f00:1::', '2001:0:7f00:1::', '2001:db8::1', '::ffff:a9fe:a9fe'],
  ])('that are not public are refused: %s', (address) => {
    expect(allowsAddress(address)).toBe(false)
  })

  it.each(['1.1.1.1', '93.184.216.34', '172.32.0.1', '2606:4700:4700::1111', '::ffff:8.8.8.8'])(
    'that are public are allowed: %s',
    (address) => {
      expect(allowsAddress(address)).toBe(true)
    },
  )

  it('are allowed by exceptions, but never the metadata service', () => {
    const rules = addressRules(['10.1.0.0/16', 'fd00::/8', '192.168.0.7', '169.254.0.0/16', 'Receiver.local'])
    const asked = ['10.1.2.3', '10.2.0.1', 'fd00::1', '192.168.0.7', '192.168.0.8', '169.254.0.1', '169.254.169.254']
    expect(asked.map(rules.allowsAddress)).toEqual([true, false, true, true, false, true, false])
    expect(rules.allowsHost('receiver.LOCAL')).toBe(true)
    expect(() => addressRules(['not a host!'])).toThrow(RangeError)
  })
})

describe('a download', () => {
  it('brings the bytes behind a URL', async () => {
    const port = await site((_, response) => response.end('picture'))
    expect(String(await reading()(`http://${ALLOWED}:${port}/a.png`))).toBe('picture')
    expect(String(await reading({ 'images.test': [ALLOWED] })(`http://images.test:${port}/`))).toBe('picture')
  })

  it.each([
    ...['localhost', '127.0.0.1', '127.1', '2130706433', '0x7f.1', '0x7f000001', '017700000001', '0.0.0.0'],
    ...['[::1]', '[::]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[64:ff9b::7f00:1]', '[fe80::1]', '169.254.169.254'],
  ])('never reaches %s', async (host) => {
    let reached = 0
    const port = await site((_, response) => response.end(`${++reached}`))
    await expect(reading()(`http://${host}:${port}/`)).rejects.toMatchObject(refused)
    expect(reached).toBe(0)
  })

  it('reaches a host that is allowed by name, unless the name means the metadata service', async () => {
    const port = await site((_, response) => response.end('inside'))
    const hosts = { 'receiver.local': ['127.0.0.1'], 'trap.local': ['169.254.169.254'] }
    const read = reading(hosts, ['receiver.local', 'trap.local'])
    expect(String(await read(`http://receiver.local:${port}/`))).toBe('inside')
    await expect(read(`http://trap.local:${port}/`)).rejects.toMatchObject(refused)
  })

  it('is stopped when a redirect leads to an address that is not public', async () => {
    const port: number = await site((request, response) => {
      if (request.url === '/inside') response.end('secret')
      else response.writeHead(302, { location: `http://127.0.0.1:${port}/inside` }).end()
    })
    await expect(reading()(`http://${ALLOWED}:${port}/`)).rejects.toMatchObject(refused)
  })

  it('is stopped when a redirect leads to another scheme, and follows five redirects at most', async () => {
    const port = await site((request, response) => {
      const left = Number(request.url!.slice(1))
      if (request.url === '/file') response.writeHead(301, { location: 'file:///etc/passwd' }).end()
      else if (left > 0) response.writeHead(307, { location: `/${left - 1}` }).end()
      else response.end('there')
    })
    const url = `http://${ALLOWED}:${port}`
    await expect(reading()(`${url}/file`)).rejects.toMatchObject(refused)
    expect(String(await reading()(`${url}/5`))).toBe('there')
    await expect(reading()(`${url}/6`)).rejects.toMatchObject({ message: 'the URL redirects too often' })
  })

  it('is stopped when a name that was public means another address the next time', async () => {
    const port = await site((request, response) => {
      if (request.url === '/second') response.end('secret')
      else response.writeHead(302, { location: '/second', connection: 'close' }).end()
    })
    const read = reading({ 'rebind.test': [ALLOWED, '127.0.0.1'] })
    await expect(read(`http://rebind.test:${port}/`)).rejects.toMatchObject(refused)
  })

  it('is refused when one of the addresses of a name is not public', async () => {
    const port = await site((_, response) => response.end('secret'))
    const lookup: Lookup = (_host, _options, done) =>
      done(null, [
        { address: ALLOWED, family: 4 },
        { address: '127.0.0.1', family: 4 },
      ])
    const outbound = createOutbound(addressRules([ALLOWED]), lookup)
    await expect(download(outbound, `http://both.test:${port}/`, 10)).rejects.toMatchObject(refused)
  })

  it('ends at the byte limit, declared or not', async () => {
    const port = await site((request, response) => {
      if (request.url === '/declared') response.setHeader('content-length', '1001')
      response.write('x'.repeat(600))
      response.end('x'.repeat(401))
    })
    for (const path of ['declared', 'counted'])
      await expect(reading()(`http://${ALLOWED}:${port}/${path}`)).rejects.toMatchObject({ code: 'media-too-large' })
    expect(await reading()(`http://${ALLOWED}:${port}/`, 1001)).toHaveLength(1001)
  })

  it('is tried again after a failure that may pass, and not after another', async () => {
    let asked = 0
    const port = await site((request, response) => {
      asked += 1
      if (request.url?.startsWith('/gone')) response.writeHead(404).end()
      else if (asked < 3) response.writeHead(503).end()
      else response.end('at last')
    })
    expect(String(await reading()(`http://${ALLOWED}:${port}/`))).toBe('at last')
    expect(asked).toBe(3)
    await expect(reading()(`http://${ALLOWED}:${port}/gone?token=secret`)).rejects.toMatchObject({
      code: 'media-unavailable',
      message: 'the URL answered with status 404',
    })
    expect(asked).toBe(4)
  })

  it('says why nothing answered, without the URL', async () => {
    await expect(reading()('http://nowhere.test/?token=secret')).rejects.toMatchObject({
      code: 'media-unavailable',
      message: 'the URL could not be read: ENOTFOUND',
    })
  })
})
