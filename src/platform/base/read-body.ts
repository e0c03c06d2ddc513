import type { Request } from 'express'
import type { z } from 'zod'
import { PlatformError } from './errors.ts'
import { faultsOf, reasonOf } from './fault-text.ts'
import { parseJson } from './json.ts'

/** Of a management request. */
const MAX_BODY_BYTES = 10 * 2 ** 20

export interface BodyOptions {
  /** 10 MiB if not given. */
  readonly maxBytes?: number
  /** `application/json` if not given; `application/merge-patch+json` on PATCH. */
  readonly type?: string
}

/**
 * The body of a request, which must be as `schema` says. Is called when everything in the path has been found, for these
 * faults come last (section 4.3). Throws 413, 415, 400.
 */
export async function readBody<T>(schema: z.ZodType<T>, request: Request, options?: BodyOptions): Promise<T> {
  return checked(schema, await readJson(request, options))
}

/** The body of a request as JSON, unchecked: a merge patch is checked when it has been merged. Throws 413, 415, 400. */
export async function readJson(request: Request, options: BodyOptions = {}): Promise<unknown> {
  const { maxBytes = MAX_BODY_BYTES, type = 'application/json' } = options
  const bytes = await readBytes(request, maxBytes)
  const { 'content-type': given = '', 'content-encoding': encoding = 'identity' } = request.headers
  if (given.split(';')[0]!.trim().toLowerCase() !== type)
    throw new PlatformError(415, `The body must be sent with Content-Type: ${type}.`)
  if (encoding !== 'identity') throw new PlatformError(415, 'The body must be sent without Content-Encoding.')
  try {
    return parseJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (cause) {
    const reason = cause instanceof SyntaxError ? cause.message : 'it is not UTF-8'
    throw invalid({ body: [`is not valid JSON: ${reason}`] }, cause)
  }
}

/** `value` as `schema` says; `root` is what the whole is called in the sentence. Throws 400 with every fault. */
export function checked<T>(schema: z.ZodType<T>, value: unknown, root = 'body'): T {
  const parsed = schema.safeParse(value, { error: reasonOf })
  if (parsed.success) return parsed.data
  throw invalid(faultsOf(parsed.error, root))
}

/** A 400 that names members and what is wrong with each. */
export function invalid(errors: Readonly<Record<string, readonly string[]>>, cause?: unknown): PlatformError {
  const sentences = Object.entries(errors).flatMap(([member, reasons]) => reasons.map((each) => `${member}: ${each}`))
  return new PlatformError(400, sentences.join('; '), { errors, cause })
}

async function readBytes(request: Request, maxBytes: number): Promise<Buffer> {
  const tooLarge = () => new PlatformError(413, `The body must not be larger than ${maxBytes} bytes.`)
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge()
  const chunks: Buffer[] = []
  let size = 0
  // Not for await: leaving it would end the connection before the answer.
  await new Promise<void>((resolve, reject) => {
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= maxBytes) chunks.push(chunk)
      else reject(tooLarge())
    })
    request.once('end', resolve)
    request.once('error', reject)
  })
  return Buffer.concat(chunks)
}
