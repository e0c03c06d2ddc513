import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { Busboy, type BusboyHeaders, type BusboyInstance } from '@fastify/busboy'
import { messageOf, WorkloadError } from '../base/errors.ts'

const LIMITS = { fields: 16, fieldNameSize: 100, fieldSize: 1 << 16, files: 4, parts: 20, headerPairs: 100 } as const
/** What stands around a file in its form. */
const ENVELOPE_BYTES = 1 << 20

/** A form that has come whole. */
export interface Form<T> {
  readonly fields: ReadonlyMap<string, string>
  /** What became of the file, under the name that the client gave it. */
  readonly file: { readonly name: string; readonly received: T } | undefined
}

export interface FormFile<T> {
  /** The name of the field that holds the file; others are skipped. */
  readonly field: string
  readonly maxBytes: number
  /** Takes the file while it comes, and must end with the stream. */
  receive(stream: Readable): Promise<T>
  /** Undoes `receive` when the rest of the form is no good. */
  discard(received: T): Promise<void>
}

/** Reads a multipart form with one file, which is never whole in memory. */
export async function readForm<T>(request: IncomingMessage, file: FormFile<T>): Promise<Form<T>> {
  if (Number(request.headers['content-length'] ?? 0) > file.maxBytes + ENVELOPE_BYTES) throw tooLarge(file)
  const parser = parserFor(request)
  const fields = new Map<string, string>()
  let stream: Readable | undefined
  let taken: Promise<NonNullable<Form<T>['file']>> | undefined
  try {
    await new Promise<void>((resolve, reject) => {
      parser.on('file', (field, part, name) => {
        // A part that ends too early says so, perhaps before anybody reads it; `receive` answers for one that it destroys.
        part.on('error', (error) => part.destroyed || reject(invalid(messageOf(error))))
        if (field !== file.field || taken) return void part.resume()
        stream = part
        taken = file.receive(part).then((received) => ({ name, received }))
        taken.catch(reject)
      })
      parser.on('field', (name, value, _nameCut, valueCut) => {
        if (valueCut) reject(invalid(`${name} is too long`))
        else fields.set(name, value)
      })
      for (const limit of ['partsLimit', 'filesLimit', 'fieldsLimit'] as const)
        parser.on(limit, () => reject(invalid('the form has too many parts')))
      parser.once('finish', resolve)
      parser.on('error', (error) => reject(invalid(messageOf(error))))
      request.once('close', () => request.complete || reject(new WorkloadError('cancelled', 'the client went away')))
      request.pipe(parser)
    })
    return { fields, file: await taken }
  } catch (error) {
    skipRest(request, file.maxBytes)
    stream?.destroy(new Error('the form broke off'))
    await taken?.then(
      ({ received }) => file.discard(received),
      () => undefined,
    )
    throw error
  }
}

function parserFor({ headers }: IncomingMessage): BusboyInstance {
  const { 'content-type': type = '' } = headers
  if (!/^multipart\/form-data\b/i.test(type))
    throw new WorkloadError('unsupported-media-type', 'send a form with Content-Type: multipart/form-data')
  try {
    return new Busboy({ headers: headers as BusboyHeaders, preservePath: true, limits: LIMITS }) // it has the type
  } catch (error) {
    throw invalid(messageOf(error))
  }
}

/** A client reads the answer only when it has sent everything, within reason. */
function skipRest(request: IncomingMessage, maxBytes: number): void {
  request.unpipe()
  let bytes = 0
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > maxBytes + ENVELOPE_BYTES) request.destroy()
  })
  request.resume()
}

const invalid = (reason: string) => new WorkloadError('invalid-request', `the form cannot be read: ${reason}`)

const tooLarge = ({ maxBytes }: FormFile<unknown>) =>
  new WorkloadError('media-too-large', `a picture may have ${maxBytes} bytes at most`)
