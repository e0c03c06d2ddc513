import type { IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Busboy, type BusboyHeaders, type BusboyInstance } from '@fastify/busboy'
import { messageOf, PlatformError } from '../base/errors.ts'
import type { BlobStore, Received } from './blob-store.ts'

/** Fields that are text; every other part is read as bytes, and only the one named `file` is kept. */
const TEXTS: readonly string[] = ['mimeType', 'sign', 'signatureExp']
const LIMITS = { fieldNameSize: 100, fieldSize: 1024, parts: 100, headerPairs: 100 } as const

/** A form that has come whole (section 22.4). */
export interface UploadForm {
  readonly texts: ReadonlyMap<string, string>
  /** To be discarded by whoever asked for the form. */
  readonly file: Received
}

/** Reads a form with one file, which is never whole in memory. Throws 400, and what `pieces` throws. */
export async function readUploadForm(
  headers: IncomingHttpHeaders,
  pieces: AsyncIterable<Buffer>,
  receive: BlobStore['receive'],
): Promise<UploadForm> {
  const parser = parserFor(headers)
  const texts = new Map<string, string>()
  const failure = new AbortController()
  const fail = (error: unknown) => failure.abort(error)
  let file: Readable | undefined
  let received: Promise<Received> | undefined
  parser.on('file', (name, part) => {
    part.on('error', (error) => fail(unreadable(messageOf(error), error))) // the form is broken: the rest may never end
    if (name !== 'file') return void part.resume()
    if (received) {
      part.resume()
      return fail(new PlatformError(400, 'file: must be there only once'))
    }
    file = part
    received = receive(part)
    received.catch(fail)
  })
  parser.on('field', (name, value, _nameCut, isCut) => {
    if (isCut) fail(new PlatformError(400, `${name}: is too long`))
    else texts.set(name, value)
  })
  parser.on('partsLimit', () => fail(unreadable('it has too many parts')))
  try {
    await pipeline(Readable.from(pieces), parser, { signal: failure.signal })
    if (!received) throw new PlatformError(400, 'file: is required')
    return { texts, file: await received }
  } catch (error) {
    file?.destroy(new Error('the form broke off'))
    await received?.then(
      (taken) => taken.discard(),
      () => undefined, // it has kept nothing, and its failure is told below
    )
    if (error instanceof PlatformError) throw error // what went wrong first: the parts break off with the whole
    throw failure.signal.aborted ? failure.signal.reason : unreadable(messageOf(error), error)
  }
}

function parserFor(headers: IncomingHttpHeaders): BusboyInstance {
  if (!/^multipart\/form-data\b/i.test(headers['content-type'] ?? ''))
    throw new PlatformError(400, 'The file must be sent with Content-Type: multipart/form-data.')
  try {
    const isPartAFile = (name: string | undefined) => !TEXTS.includes(name ?? '')
    return new Busboy({ headers: headers as BusboyHeaders, isPartAFile, limits: LIMITS }) // it has the type
  } catch (error) {
    throw unreadable(messageOf(error), error)
  }
}

const unreadable = (reason: string, cause?: unknown) =>
  new PlatformError(400, `The form cannot be read: ${reason}.`, { cause })
