import type { RequestListener } from 'node:http'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { addressRules, isMetadataService } from '../../../src/workload/media/address-rules.ts'
import { download } from '../../../src/workload/media/download.ts'
import { createOutbound, type Lookup, type Outbound } from '../../../src/workload/media/outbound.ts'
import { listen } from '../../support/site.ts'

/** A loopback address that the tests' rules make an exception for; the others stay forbidden. */
const ALLOWED = '127.0.0.2'

/** A server on every local address, on a free port. */
const site = async (answer: RequestListener): Promise<number> => (await listen(answer)).port

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
  return (url: string, maxBytes = 1000) => bytesAt(outbound, url, maxBytes)
}
const bytesAt = async (outbound: Outbound, url: string, maxBytes: number): Promise<Buffer> => {
  const got = await download(
    outbound,
    { url, headers: {} },
    { maxBytes, firstPauseMs: 1, signal: new AbortController().signal },
  )
  return got === 'unchanged' ? Buffer.from(got) : got.bytes
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
    ...['::7f00:1', '64:ff9b:1::7f00:1', '::ffff:0:7f00:1', 'fec0::1', '100::1', '4000::1', '168.63.129.16'],
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

  it.each([
    ...['169.254.169.254', '::ffff:169.254.169.254', '::a9fe:a9fe', '64:ff9b::a9fe:a9fe', '2002:a9fe:a9fe::'],
    ...['fd00:ec2::254', '100.100.100.200', '168.63.129.16'],
  ])('of metadata services no exception allows: %s', (address) => {
    expect(addressRules(['0.0.0.0/0', '::/0']).allowsAddress(address)).toBe(false)
    expect(isMetadataService(address)).toBe(true)
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

  it.each(['http://169.254.169.254/v1/token', 'http://[::ffff:a9fe:a9fe]/', '//0x7f.1/', 'http://user:pw@127.1/'])(
    'is stopped when a redirect leads to %s',
    async (location) => {
      const port = await site((_, response) => void response.writeHead(302, { location }).end())
      await expect(reading()(`http://${ALLOWED}:${port}/`)).rejects.toMatchObject(refused)
    },
  )

  it('is stopped when a redirect leads to another scheme, and follows five redirects at most', async () => {
    const port = await site((request, response) => {
      const left = Number(request.url!.slice(1))
      if (request.url === '/file') response.writeHead(301, { location: 'file:///etc/passwd' }).end()
      else if (request.url === '/broken') response.writeHead(301, { location: 'http://[' }).end()
      else if (left > 0) response.writeHead(307, { location: `/${left - 1}` }).end()
      else response.end('there')
    })
    const url = `http://${ALLOWED}:${port}`
    for (const path of ['file', 'broken']) await expect(reading()(`${url}/${path}`)).rejects.toMatchObject(refused)
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
    await expect(bytesAt(outbound, `http://both.test:${port}/`, 10)).rejects.toMatchObject(refused)
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

  it('goes to no proxy', async () => {
    let asked = 0
    const proxy = await listen((_, response) => void response.end(`${++asked}`))
    for (const name of ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY']) vi.stubEnv(name, proxy.url)
    onTestFinished(() => void vi.unstubAllEnvs())
    const port = await site((_, response) => response.end('direct'))
    expect(String(await reading()(`http://${ALLOWED}:${port}/`))).toBe('direct')
    expect(asked).toBe(0)
  })

  it('fails, and nothing else does, when the other side hangs up in the middle', async () => {
    let asked = 0
    const port = await site((_, response) => {
      asked += 1
      response.writeHead(200, { 'content-length': '1000' }).write('x', () => response.destroy())
    })
    await expect(reading()(`http://${ALLOWED}:${port}/`)).rejects.toMatchObject({
      code: 'media-unavailable',
      message: 'the URL could not be read: UND_ERR_SOCKET',
    })
    expect(asked).toBe(3)
  })

  it('ends with the reason of its signal', async () => {
    const stop = new AbortController()
    const port = await site(() => stop.abort(new Error('enough')))
    const outbound = createOutbound(addressRules([ALLOWED]), names({}))
    const request = { url: `http://${ALLOWED}:${port}/`, headers: {} }
    await expect(download(outbound, request, { maxBytes: 10, firstPauseMs: 1, signal: stop.signal })).rejects.toThrow(
      'enough',
    )
  })

  it('says why nothing answered, without the URL', async () => {
    await expect(reading()('http://nowhere.test/?token=secret')).rejects.toMatchObject({
      code: 'media-unavailable',
      message: 'the URL could not be read: ENOTFOUND',
    })
  })
})
