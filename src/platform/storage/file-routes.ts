import type { RequestHandler } from 'express'
import {
  DEFAULT_MIME_TYPE,
  type FileUrl,
  type ListedFile,
  mimeTypeSchema,
  signatureSchema,
  signFileSchema,
} from '../../contracts/platform/storage.ts'
import { sendJson } from '../base/json.ts'
import { checked, readBody } from '../base/read-body.ts'
import type { Access } from './access.ts'
import type { BlobStore } from './blob-store.ts'
import type { Files } from './files.ts'
import { type Place, urlOf } from './place.ts'
import { hasBody, piecesOf } from './request-body.ts'
import { sendFile } from './send-file.ts'
import type { StorageSettings } from './settings.ts'
import type { Signatures } from './signatures.ts'
import { readUploadForm, type UploadForm } from './upload-form.ts'

/** What the routes of files are made of. */
export interface FileServices {
  readonly access: Access
  readonly files: Files
  readonly signatures: Signatures
  readonly receive: BlobStore['receive']
  /** The address of this surface, without a slash at its end. */
  readonly publicUrl: string
  readonly settings: StorageSettings
}

/** Operations on files: sections 22.2 to 22.4. */
export function fileRoutes(services: FileServices) {
  const { access, files, signatures, receive, publicUrl, settings } = services
  const { least, most, usual } = settings.signature
  const lifetime = signatureSchema(least, most)
  const signBody = signFileSchema(least, most)
  const signed = async (place: Place, seconds: number) =>
    `${urlOf(publicUrl, place)}?token=${await signatures.sign(place, seconds)}`

  /** The texts of a form. Throws 400, before anything is stored. */
  const wishesOf = (texts: UploadForm['texts']) => {
    const mimeType = checked(mimeTypeSchema, texts.get('mimeType') ?? DEFAULT_MIME_TYPE, 'mimeType')
    const seconds = texts.get('signatureExp')
    if (texts.get('sign')?.toLowerCase() !== 'true') return { mimeType, seconds: undefined }
    return { mimeType, seconds: seconds === undefined ? usual : checked(lifetime, seconds, 'signatureExp') }
  }

  const write: RequestHandler = async (request, response) => {
    const place = await access.place(request)
    const pieces = piecesOf(request, settings.requestBytes)
    const form = await readUploadForm(request.headers, pieces, receive)
    try {
      const { mimeType, seconds } = wishesOf(form.texts)
      await files.store(place, mimeType, form.file)
      const url = seconds === undefined ? urlOf(publicUrl, place) : await signed(place, seconds)
      sendJson(response, { url } satisfies FileUrl)
    } finally {
      await form.file.discard()
    }
  }

  const sign: RequestHandler = async (request, response) => {
    const place = await access.place(request)
    const { exp } = hasBody(request) ? await readBody(signBody, request) : {}
    await files.find(place)
    sendJson(response, { url: await signed(place, exp ?? usual) } satisfies FileUrl)
  }

  const read: RequestHandler = async (request, response) =>
    sendFile(files, await access.place(request), request, response)

  const remove: RequestHandler = async (request, response) => {
    await files.remove(await access.place(request))
    response.status(204).end()
  }

  const list: RequestHandler = async (request, response) => {
    const organization = await access.organization(request)
    const listed = await files.list(organization.id)
    const entries = listed.map(({ path, mimeType, size, uploaded, etag }): ListedFile => {
      return { url: urlOf(publicUrl, { organization, path }), mimeType, size, uploaded: uploaded.toISOString(), etag }
    })
    sendJson(response, { files: entries })
  }

  return { write, sign, read, remove, list }
}
