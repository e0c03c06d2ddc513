import { createHmac } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { site } from './uploads.ts'

interface Blob {
  readonly content: Buffer
  readonly type: string | undefined
}

/**
 * As much of Blob Storage as an upload needs, for the account `easel` with one container `pictures`: it takes requests
 * that are signed with `key` at most 15 minutes ago, or carry `sas` in their query, as Microsoft's "Put Blob", "Put
 * Block", "Put Block List" and "Authorize with Shared Key" describe them.
 */
export async function azureBlobs(key: Buffer, sas: string, now: () => number = Date.now) {
  const blobs = new Map<string, Blob>()
  const blocks = new Map<string, Map<string, Buffer>>()
  const asked: string[] = []
  const refuse = (request: IncomingMessage, body: Buffer): [number, string] | undefined => {
    const { headers, url = '' } = request
    const header = (name: string) => String(headers[name] ?? '')
    const [path = '', query = ''] = url.split('?')
    if (!/^20\d\d-\d\d-\d\d$/.test(header('x-ms-version'))) return [400, 'MissingRequiredHeader']
    if (Math.abs(Date.parse(header('x-ms-date')) - now()) > 900_000) return [403, 'AuthenticationFailed']
    if (headers.authorization === undefined) return query.endsWith(sas) ? undefined : [403, 'AuthenticationFailed']
    // Written down from the documentation, line by line.
    const text =
      `${request.method}\n${header('content-encoding')}\n${header('content-language')}\n` +
      `${body.length === 0 ? '' : body.length}\n${header('content-md5')}\n${header('content-type')}\n` +
      `${header('date')}\n${header('if-modified-since')}\n${header('if-match')}\n${header('if-none-match')}\n` +
      `${header('if-unmodified-since')}\n${header('range')}\n` +
      Object.keys(headers)
        .filter((name) => /^x-ms-/.test(name))
        .sort()
        .reduce((lines, name) => `${lines}${name}:${header(name)}\n`, '') +
      `/easel${path}` +
      query
        .split('&')
        .filter(Boolean)
        .map((pair) => pair.split('=').map(decodeURIComponent))
        .sort(([a = ''], [b = '']) => (a < b ? -1 : 1))
        .reduce((lines, [name, value]) => `${lines}\n${name}:${value}`, '')
    const signature = createHmac('sha256', key).update(text, 'utf8').digest('base64')
    return headers.authorization === `SharedKey easel:${signature}` ? undefined : [403, 'AuthenticationFailed']
  }
  const take = (request: IncomingMessage, body: Buffer): [number, string] => {
    const { pathname, searchParams } = new URL(request.url!, 'http://any')
    const [, container, ...name] = pathname.split('/').map(decodeURIComponent)
    const [blob, comp] = [name.join('/'), searchParams.get('comp') ?? '']
    asked.push(comp)
    const { headers } = request
    if (container !== 'pictures') return [404, 'ContainerNotFound']
    if (comp === 'block') {
      const own = blocks.get(blob) ?? new Map<string, Buffer>()
      blocks.set(blob, own.set(searchParams.get('blockid')!, body))
    } else if (comp === 'blocklist') {
      const ids = [...String(body).matchAll(/<Latest>(.*?)<\/Latest>/g)].map(([, id]) => id!)
      const found = ids.map((id) => blocks.get(blob)?.get(id))
      if (found.some((block) => block === undefined)) return [400, 'InvalidBlockList']
      const type = headers['x-ms-blob-content-type'] as string | undefined
      blobs.set(blob, { content: Buffer.concat(found as Buffer[]), type })
    } else {
      if (headers['x-ms-blob-type'] !== 'BlockBlob') return [400, 'MissingRequiredHeader']
      blobs.set(blob, { content: body, type: headers['content-type'] })
    }
    return [201, '']
  }
  const url = await site(async (request, response) => {
    const body = await buffer(request)
    const [status, code] = refuse(request, body) ?? take(request, body)
    response.writeHead(status, code ? { 'x-ms-error-code': code } : {}).end()
  })
  return { url, blobs, asked }
}
