import type { IncomingMessage } from 'node:http'
import { describe, expect, it } from 'vitest'
import type { Auth, Credentials } from '../../../src/contracts/credentials.ts'
import { ownHeaders } from '../../../src/workload/media/own-headers.ts'
import { type FetchingOptions, fetching } from '../../support/media.ts'
import { listen } from '../../support/site.ts'

const { signal } = new AbortController()
const shown = ({ url, headers }: IncomingMessage) => `${url} ${headers.authorization ?? headers['x-key'] ?? '-'}`

/** What a server sees of who asks for `/a?b=%20c`. */
async function seen(credentials: (url: string) => Credentials, options: FetchingOptions = {}, user = '') {
  const { url } = await listen((request, response) => response.end(shown(request)))
  const asked = url.replace('//', `//${user}`)
  return String(await fetching(options).fetch(`${asked}/a?b=%20c`, credentials(asked), signal))
}
const anywhere = (auth: Auth) => () => [{ url_pattern: '**', auth }]
const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`
const own = {
  headersFor: ownHeaders({ authHeader: { name: 'X-Key', value: 'own', hosts: ['127.0.0.*'] }, hfToken: undefined }),
}

describe('who asks for a picture', () => {
  it.each<[string, Auth]>([
    ['/a?b=%20c Bearer t', { type: 'bearer', token: 't' }],
    [`/a?b=%20c ${basic('u:p')}`, { type: 'basic', username: 'u', password: 'p' }],
    ['/a?b=%20c v', { type: 'header', header_name: 'X-Key', header_value: 'v' }],
    ['/a?b=%20c&key=v -', { type: 'query', query_param: 'key', query_value: 'v' }],
  ])('is shown as %s', async (expected, auth) => {
    expect(await seen(anywhere(auth))).toBe(expected)
  })

  it('is the first entry that matches the whole URL, and nobody when none does', async () => {
    const entry = (url_pattern: string, token: string) => ({ url_pattern, auth: { type: 'bearer', token } as const })
    expect(await seen((url) => [entry(`${url}/`, '1'), entry(`${url}/*`, '2'), entry('**', '3')])).toMatch(/Bearer 2$/)
    expect(await seen((url) => [entry(`${url}/b*`, '1')])).toMatch(/ -$/)
  })

  it('may stand in the URL, which is never sent as it is', async () => {
    expect(await seen(() => [], {}, 'us%20er:p%40ss@')).toBe(`/a?b=%20c ${basic('us er:p@ss')}`)
    expect(await seen(() => [], own, 'user:pass@')).toBe(`/a?b=%20c ${basic('user:pass')}`)
  })

  it('is one alone: credentials before the user part, and that before the header of the server', async () => {
    const query: Auth = { type: 'query', query_param: 'key', query_value: 'v' }
    expect(await seen(anywhere(query), own, 'user:pass@')).toBe('/a?b=%20c&key=v -')
    expect(await seen(() => [], own)).toBe('/a?b=%20c own')
  })

  it('is not told to another origin, nor on the way back', async () => {
    const log: string[] = []
    const other = await listen((request, response) => {
      log.push(`other ${shown(request)}`)
      response.writeHead(302, { location: `${home.url}/end` }).end()
    })
    const home: { readonly url: string } = await listen((request, response) => {
      log.push(`home ${shown(request)}`)
      if (request.url?.startsWith('/a')) response.writeHead(302, { location: '/b' }).end()
      else if (request.url === '/b') response.writeHead(302, { location: other.url.replace('//', '//u:p@') }).end()
      else response.end()
    })
    const url = `${home.url}/a`
    for (const auth of [
      { type: 'bearer', token: 't' },
      { type: 'header', header_name: 'x-key', header_value: 'v' },
      { type: 'query', query_param: 'key', query_value: 'v' },
    ] as const)
      await fetching(own).fetch(url, anywhere(auth)(), signal)
    await fetching(own).fetch(url, [], signal)
    const trip = (first: string, mark: string) => [
      `home ${first} ${mark}`,
      `home /b ${mark}`,
      'other / -',
      'home /end -',
    ]
    expect(log).toEqual([...trip('/a', 'Bearer t'), ...trip('/a', 'v'), ...trip('/a?key=v', '-'), ...trip('/a', 'own')])
  })

  it('is the server at the hosts in its list only', async () => {
    const elsewhere = ownHeaders({ authHeader: { name: 'X-Key', value: 'own', hosts: ['*.test'] }, hfToken: 'hf' })
    expect(await seen(() => [], { headersFor: elsewhere })).toBe('/a?b=%20c -')
  })
})

describe('the storage of the platform', () => {
  const path = '/base/organizations/acme/files/cat.png'
  const ask = async (asked: string, storage: FetchingOptions['storage'], credentials: Credentials = []) => {
    const { url } = await listen(({ headers }, response) => {
      const { authorization, 'service-api-key': key } = headers
      if (authorization === undefined && key === undefined) response.writeHead(401).end()
      else response.end(`${key ?? ''} ${authorization ?? ''}`)
    })
    const at = { url: `${url}/base/`, organization: 'acme', ...storage }
    return String(await fetching({ storage: at }).fetch(url + asked, credentials, signal))
  }
  const refused = { code: 'media-unavailable', message: 'the URL answered with status 401' }

  it('is shown the key of the operator, or else the token of the machine', async () => {
    const token = async () => 'identity'
    expect(await ask(path, { apiKey: 'key', token })).toBe('key ')
    expect(await ask(path, { token })).toBe(' Bearer identity')
    expect(await ask('/base/x', { apiKey: 'key', organization: undefined })).toBe('key ')
    await expect(ask(path, { token: () => Promise.reject(new Error('no service')) })).rejects.toMatchObject({
      code: 'media-unavailable',
      message: 'this machine gave no identity token',
    })
  })

  it('is shown nothing of the server beside credentials or a token in the URL', async () => {
    expect(await ask(path, { apiKey: 'key' }, anywhere({ type: 'bearer', token: 't' })())).toBe(' Bearer t')
    await expect(ask(`${path}?token=x`, { apiKey: 'key' })).rejects.toMatchObject(refused)
  })

  it.each([
    '/base/organizations/other/files/cat.png',
    '/base/organizations/acme/files/../../other/files/cat.png',
    '/base/organizations/acme/files/..%2f..%2fother/files/cat.png',
    '/base/organizations/acme/files/%2e%2e/%2e%2e/other/files/cat.png',
    '/base/organizations/acme/filesystem/cat.png',
    '/baseline/organizations/acme/files/cat.png',
  ])('is not asked with it for what belongs to others: %s', async (asked) => {
    await expect(ask(asked, { apiKey: 'key' })).rejects.toMatchObject(refused)
  })

  it('is not what another port or scheme says it is', async () => {
    const storage = { url: 'http://127.0.0.2:1', apiKey: 'key', organization: undefined }
    await expect(ask(path, storage)).rejects.toMatchObject(refused)
  })
})
