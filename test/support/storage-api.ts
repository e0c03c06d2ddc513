import { createHash, randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { Busboy, type BusboyHeaders } from '@fastify/busboy'
import { site } from './uploads.ts'

const MOST_BYTES = 100 * 2 ** 20
const LEAST_PART = 5 * 2 ** 20

interface StoredFile {
  readonly bytes: number
  readonly sha256: string
  readonly mime: string
}

type Parts = Map<number, { readonly body: Buffer; readonly etag: string }>

/** What the store does instead of its work; undefined for its work. */
type Trouble = { readonly status: number; readonly headers?: Record<string, string> } | 'drop' | 'hang' | undefined

export const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex')

class Refusal extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/**
 * The platform's storage API as its contract describes it, for one organization, whose key is `key` and whose server's
 * identity token is `bearer()`. It keeps digests only.
 */
export async function storageApi(key: string, bearer: () => string) {
  const files = new Map<string, StoredFile>()
  const tokens = new Map<string, string>()
  const uploads = new Map<string, Parts>()
  const asked: string[] = []
  const troubles: Trouble[] = []
  let url = ''

  const urlOf = (path: string) => `${url}/organizations/acme/files/${path.split('/').map(encodeURIComponent).join('/')}`
  const signed = (path: string, exp: string | null) => {
    if (exp !== null && !(/^\d+$/.test(exp) && Number(exp) >= 60 && Number(exp) <= 2_592_000))
      throw new Refusal(400, 'exp')
    const token = randomUUID()
    tokens.set(token, path)
    return `${urlOf(path)}?token=${token}`
  }
  const authorize = ({ headers }: IncomingMessage, at: URL) => {
    const shown = headers['service-api-key'] ?? headers.authorization
    if (at.searchParams.has('token') || (shown !== key && shown !== `Bearer ${bearer()}`))
      throw new Refusal(401, 'not authorized')
  }
  const putPart = async (request: IncomingMessage, parts: Parts, number: number) => {
    if (!Number.isInteger(number) || number < 1 || number > 10_000) throw new Refusal(400, 'partNumber')
    const body = await buffer(request)
    if (body.length === 0) throw new Refusal(400, 'empty part')
    if (body.length > MOST_BYTES) throw new Refusal(413, 'too large')
    const etag = randomUUID()
    parts.set(number, { body, etag })
    return { partNumber: number, etag }
  }
  const complete = async (request: IncomingMessage, path: string, parts: Parts) => {
    const { parts: named } = JSON.parse(String(await buffer(request))) as {
      parts: { partNumber: number; etag: string }[]
    }
    const hash = createHash('sha256')
    let [bytes, last] = [0, 0]
    for (const [i, { partNumber, etag }] of named.entries()) {
      const part = parts.get(partNumber)
      const short = part && part.body.length < LEAST_PART && i < named.length - 1
      if (!part || short || partNumber <= last || part.etag !== etag) throw new Refusal(400, 'parts')
      hash.update(part.body)
      bytes += part.body.length
      last = partNumber
    }
    files.set(path, { bytes, sha256: hash.digest('hex'), mime: 'application/octet-stream' })
    return { url: urlOf(path) }
  }
  const work = async (request: IncomingMessage, at: URL): Promise<unknown> => {
    const [, route, encoded = ''] =
      /^\/organizations\/acme\/(files|file_parts|file_tokens)\/(.+)$/.exec(at.pathname) ?? []
    if (!route) throw new Refusal(404, 'no such route')
    authorize(request, at)
    const path = encoded.split('/').map(decodeURIComponent).join('/')
    const segments = path.split('/')
    if (segments.some((each) => ['', '.', '..'].includes(each)) || /\p{Cc}/u.test(path) || path.length > 1024)
      throw new Refusal(400, 'path')
    const action = at.searchParams.get('action')
    const upload = `${at.searchParams.get('uploadId')} ${path}`
    const parts = () => {
      const found = uploads.get(upload)
      if (found) return found
      throw new Refusal(400, 'uploadId')
    }
    switch (`${request.method} ${route} ${action ?? ''}`) {
      case 'PUT files mpu-create': {
        const uploadId = randomUUID()
        uploads.set(`${uploadId} ${path}`, new Map())
        return { uploadId }
      }
      case 'PUT file_parts ':
        return putPart(request, parts(), Number(at.searchParams.get('partNumber')))
      case 'PUT files mpu-complete': {
        const answer = await complete(request, path, parts())
        uploads.delete(upload)
        return answer
      }
      case 'DELETE files mpu-abort':
        parts()
        uploads.delete(upload)
        return undefined
      case 'PUT files ': {
        const { file, fields } = await readForm(request)
        files.set(path, { ...file, mime: fields.mimeType ?? 'application/octet-stream' })
        const sign = fields.sign?.toLowerCase() === 'true'
        return { url: sign ? signed(path, fields.signatureExp ?? null) : urlOf(path) }
      }
      case 'POST file_tokens ': {
        const { method = 'GET', exp = null } = JSON.parse(String(await buffer(request))) as Record<string, string>
        if (method !== 'GET') throw new Refusal(400, 'method')
        if (!files.has(path)) throw new Refusal(404, 'no such file')
        return { url: signed(path, exp) }
      }
      default:
        throw new Refusal(405, 'no such operation')
    }
  }
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const at = new URL(request.url!, url)
    asked.push(`${request.method} ${at.pathname.split('/')[3]} ${at.searchParams.get('action') ?? ''}`.trim())
    const trouble = troubles.shift()
    if (trouble === 'hang') return
    if (trouble === 'drop') return void request.socket.destroy()
    try {
      if (trouble) {
        response
          .writeHead(trouble.status, trouble.headers)
          .end(JSON.stringify({ code: 'trouble', detail: request.headers }))
        return void request.resume()
      }
      const body = await work(request, at)
      response.writeHead(body === undefined ? 204 : 200).end(body === undefined ? '' : JSON.stringify(body))
    } catch (error) {
      request.resume()
      const status = error instanceof Refusal ? error.status : 500
      response.writeHead(status).end(JSON.stringify({ status, code: 'refused', detail: String(error) }))
    }
  }
  url = await site(answer)
  return {
    url,
    files,
    /** Method, resource and action of every request. */
    asked,
    /** What happens to the next requests, one each. */
    troubles,
    /** Multipart uploads that nobody has ended. */
    get unfinished() {
      return uploads.size
    },
    /** The file that a signed URL opens. */
    open(signedUrl: string): StoredFile | undefined {
      const { pathname, searchParams } = new URL(signedUrl)
      const path = tokens.get(searchParams.get('token') ?? '')
      return path !== undefined && urlOf(path).endsWith(pathname) ? files.get(path) : undefined
    },
  }
}

/** Reads a form piece by piece. */
async function readForm(request: IncomingMessage) {
  const { 'content-length': length = '0', 'content-type': type = '' } = request.headers
  if (Number(length) > MOST_BYTES) throw new Refusal(413, 'too large')
  if (!type.startsWith('multipart/form-data')) throw new Refusal(400, 'content type')
  const fields: Record<string, string> = {}
  let file: Pick<StoredFile, 'bytes' | 'sha256'> | undefined
  await new Promise<void>((resolve, reject) => {
    const parser = new Busboy({ headers: request.headers as BusboyHeaders })
    parser.on('field', (name, value) => {
      fields[name] = value
    })
    parser.on('file', (field, part) => {
      if (field !== 'file' || file) return reject(new Refusal(400, 'exactly one file'))
      const hash = createHash('sha256')
      let bytes = 0
      part.on('data', (piece: Buffer) => {
        hash.update(piece)
        bytes += piece.length
      })
      part.on('error', reject)
      part.on('end', () => {
        file = { bytes, sha256: hash.digest('hex') }
      })
    })
    parser.on('finish', resolve)
    parser.on('error', reject)
    request.on('close', () => request.complete || reject(new Error('broken off')))
    request.pipe(parser)
  })
  if (!file) throw new Refusal(400, 'no file')
  return { file, fields }
}
