import { createHash } from 'node:crypto'
import { appendFile, readdir, readFile, utimes, writeFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { silentLog } from '../../../src/common/log.ts'
import type { Credentials } from '../../../src/contracts/credentials.ts'
import { createMediaCache } from '../../../src/workload/media/media-cache.ts'
import { emptyFolder } from '../../support/folder.ts'
import { fetching } from '../../support/media.ts'
import { listen } from '../../support/site.ts'

const { signal } = new AbortController()
const as = (token: string): Credentials => [{ url_pattern: '**', auth: { type: 'bearer', token } }]
const hashOf = (content: string) => `"${createHash('sha256').update(content).digest('hex')}"`

/** A server whose answers can be changed, and a log of `<status> <path>`. */
async function shelf() {
  const folder = await emptyFolder()
  const log: string[] = []
  const state = { content: (_: IncomingMessage) => 'picture', headers: {} as Record<string, string>, etag: true }
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    const content = state.content(request)
    const etag = state.etag ? hashOf(content) : undefined
    const modified = state.headers['last-modified']
    const same =
      (etag !== undefined && request.headers['if-none-match'] === etag) ||
      (modified !== undefined && request.headers['if-modified-since'] === modified)
    log.push(`${same ? 304 : 200} ${request.url}`)
    response.writeHead(same ? 304 : 200, { ...state.headers, ...(etag && { etag }) }).end(same ? '' : content)
  }
  const { url } = await listen(answer)
  const fetch = async (path = '/a', credentials: Credentials = []) =>
    String(await fetching({ folder }).fetch(url + path, credentials, signal))
  return { folder, log, state, url, fetch }
}

describe('a picture that was fetched before', () => {
  it('is asked for each time and sent only when it has changed, also after a restart', async () => {
    const { log, state, fetch } = await shelf()
    expect([await fetch(), await fetch()]).toEqual(['picture', 'picture'])
    state.content = () => 'another'
    expect([await fetch(), await fetch()]).toEqual(['another', 'another'])
    expect(log).toEqual(['200 /a', '304 /a', '200 /a', '304 /a'])
  })

  it('is told by its date where it has no ETag', async () => {
    const { log, state, fetch } = await shelf()
    state.etag = false
    state.headers = { 'last-modified': 'Wed, 21 Oct 2015 07:28:00 GMT' }
    expect([await fetch(), await fetch()]).toEqual(['picture', 'picture'])
    expect(log).toEqual(['200 /a', '304 /a'])
  })

  it('is not told by its date when anybody shows who asks: others may see another one', async () => {
    const { log, state, fetch } = await shelf()
    state.etag = false
    state.headers = { 'last-modified': 'Wed, 21 Oct 2015 07:28:00 GMT' }
    state.content = ({ headers }) => headers.authorization ?? 'nobody'
    expect([await fetch('/a', as('1')), await fetch('/a', as('2')), await fetch()]).toEqual([
      ...['Bearer 1', 'Bearer 2', 'nobody'],
    ])
    expect(log).toEqual(['200 /a', '200 /a', '200 /a'])
  })

  it('is given to nobody whom the server refuses', async () => {
    const folder = await emptyFolder()
    const { url } = await listen(({ headers }, response) => {
      const known = headers.authorization === 'Bearer right'
      const same = headers['if-none-match'] === '"1"'
      response.writeHead(known ? (same ? 304 : 200) : 403, { etag: '"1"' }).end(known && !same ? 'private' : '')
    })
    const fetch = async (token: string) => String(await fetching({ folder }).fetch(url, as(token), signal))
    expect(await fetch('right')).toBe('private')
    await expect(fetch('wrong')).rejects.toMatchObject({ code: 'media-unavailable' })
    expect(await fetch('right')).toBe('private')
  })

  it.each([
    ['no-store', '/a', { 'cache-control': 'private, No-Store' }],
    ['differs for everybody', '/a', { vary: '*' }],
    ['has a signature in its URL', '/a?X-Amz-Signature=1', {}],
    ['has a signature in its URL', '/a?sv=1&sig=1', {}],
    ['has a token in its URL', '/a?access_token=1', {}],
  ])('is not kept when it %s', async (_, path, headers) => {
    const { folder, log, state, fetch } = await shelf()
    state.headers = headers as Record<string, string>
    expect([await fetch(path), await fetch(path)]).toEqual(['picture', 'picture'])
    expect(log).toEqual([`200 ${path}`, `200 ${path}`])
    expect(await readdir(folder)).toEqual([])
  })

  it('is let go when its server says so later', async () => {
    const { folder, state, fetch } = await shelf()
    await fetch()
    expect(await readdir(folder)).toHaveLength(1)
    state.content = () => 'another'
    state.headers = { 'cache-control': 'no-store' }
    expect(await fetch()).toBe('another')
    expect(await readdir(folder)).toEqual([])
  })

  it('is not taken for the file that a redirect leads to now', async () => {
    const folder = await emptyFolder()
    const modified = { 'last-modified': 'Wed, 21 Oct 2015 07:28:00 GMT' }
    const log: string[] = []
    let latest = '/2'
    const { url } = await listen((request, response) => {
      const same = request.headers['if-modified-since'] !== undefined
      log.push(`${request.url}${same ? ' if' : ''}`)
      if (request.url === '/latest') response.writeHead(302, { location: latest }).end()
      else response.writeHead(same ? 304 : 200, modified).end(same ? '' : request.url)
    })
    const fetch = async () => String(await fetching({ folder }).fetch(`${url}/latest`, [], signal))
    expect([await fetch(), await fetch()]).toEqual(['/2', '/2'])
    latest = '/1'
    expect([await fetch(), await fetch()]).toEqual(['/1', '/1'])
    expect(log).toEqual(['/latest', '/2', '/latest', '/2 if', '/latest', '/1', '/latest', '/1 if'])
  })

  it('is fetched again when its file is damaged or gone', async () => {
    const { folder, log, fetch } = await shelf()
    await fetch()
    const [name = ''] = await readdir(folder)
    await appendFile(join(folder, name), 'x')
    expect(await fetch()).toBe('picture')
    await writeFile(join(folder, name), '')
    expect([await fetch(), await fetch()]).toEqual(['picture', 'picture'])
    expect(log).toEqual(['200 /a', '200 /a', '200 /a', '304 /a'])
  })

  it('leaves no trace of who asked', async () => {
    const { folder, url, fetch } = await shelf()
    await fetch('/a', as('planted-secret'))
    await fetching({ folder }).fetch(`${url.replace('//', '//user:planted-secret@')}/b`, [], signal)
    const query = { type: 'query', query_param: 'q', query_value: 'planted-secret' } as const
    await fetching({ folder }).fetch(`${url}/c`, [{ url_pattern: '**', auth: query }], signal)
    const names = await readdir(folder)
    expect(names).toHaveLength(3)
    for (const name of names) expect(String(await readFile(join(folder, name)))).not.toContain('secret')
  })
})

describe('the cache of pictures', () => {
  const opened = async (maxBytes: number, folder: string, changes: unknown[] = []) => {
    let time = Date.now()
    return createMediaCache({
      ...{ folder, maxBytes, log: silentLog, now: () => (time += 1000) },
      onChange: (...change) => void changes.push(change),
    })
  }
  const bytes = Buffer.alloc(1000, 'x')
  const validators = { etag: '"1"', anonymous: true }
  const has = async (cache: Awaited<ReturnType<typeof opened>>, ...keys: string[]) =>
    Promise.all(keys.map(async (key) => (await cache.find(key)) !== undefined))

  it('drops what was unused for longest, also after a restart', async () => {
    const folder = await emptyFolder()
    const cache = await opened(3500, folder)
    for (const key of ['a', 'b', 'c']) await cache.keep(key, bytes, validators)
    expect(await cache.find('a')).toEqual({ ...validators, bytes })
    const changes: unknown[] = []
    const again = await opened(3500, folder, changes)
    await again.keep('d', bytes, validators)
    expect(await has(again, 'a', 'b', 'c', 'd')).toEqual([true, false, true, true])
    expect(changes.at(-1)).toEqual([expect.any(Number), 1])
    expect(await readdir(folder)).toHaveLength(3)
    await opened(1500, folder).then((small) => small.find('none'))
    expect(await readdir(folder)).toHaveLength(1)
  })

  it('never holds more than its limit, however many come at once', async () => {
    const folder = await emptyFolder()
    const cache = await opened(3500, folder)
    await Promise.all(Array.from({ length: 12 }, (_, i) => cache.keep(`${i}`, bytes, validators)))
    expect(await readdir(folder)).toHaveLength(3)
    await cache.keep('large', Buffer.alloc(4000), validators)
    expect(await has(cache, 'large', '11')).toEqual([false, true])
  })

  it('removes what a crash left half-written, once it is old', async () => {
    const folder = await emptyFolder()
    await writeFile(join(folder, '.part-old'), 'x')
    await writeFile(join(folder, '.part-new'), 'x')
    await writeFile(join(folder, 'unrelated.txt'), 'x')
    await utimes(join(folder, '.part-old'), 1, 1)
    const cache = await opened(3500, folder)
    await cache.find('none')
    expect((await readdir(folder)).sort()).toEqual(['.part-new', 'unrelated.txt'])
  })

  it('costs nobody a picture when the disk fails', async () => {
    const file = join(await emptyFolder(), 'file')
    await writeFile(file, '')
    const warnings: unknown[] = []
    const log = { warn: (_: unknown, text: string) => void warnings.push(text) }
    const cache = createMediaCache({ folder: file, maxBytes: 3500, log, now: Date.now })
    await cache.keep('a', bytes, validators)
    expect(await cache.find('a')).toBeUndefined()
    expect(warnings).toEqual(Array(2).fill('the cache of input files failed'))
  })
})
