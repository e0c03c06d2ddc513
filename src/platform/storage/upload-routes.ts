import type { Request, RequestHandler } from 'express'
import {
  type BegunUpload,
  completeUploadSchema,
  type FileUrl,
  PART_NUMBERS,
  type TakenPart,
} from '../../contracts/platform/storage.ts'
import { PlatformError } from '../base/errors.ts'
import { sendJson } from '../base/json.ts'
import { readBody } from '../base/read-body.ts'
import type { FileServices } from './file-routes.ts'
import { urlOf } from './place.ts'
import { piecesOf } from './request-body.ts'
import { quoted } from './send-file.ts'
import type { Uploads } from './uploads.ts'

/** What the routes of multipart uploads are made of. */
export interface UploadServices extends Pick<FileServices, 'access' | 'publicUrl' | 'receive' | 'settings'> {
  readonly uploads: Uploads
}

/** Operations on multipart uploads (section 22.2). */
export function uploadRoutes({ access, uploads, receive, publicUrl, settings }: UploadServices) {
  const create: RequestHandler = async (request, response) => {
    const uploadId = await uploads.create(await access.place(request))
    sendJson(response, { uploadId } satisfies BegunUpload)
  }

  const putPart: RequestHandler = async (request, response) => {
    const place = await access.place(request)
    const pieces = piecesOf(request, settings.requestBytes)
    const partNumber = partNumberOf(request)
    const id = uploadIdOf(request)
    await uploads.check(place, id)
    const received = await receive(pieces)
    try {
      if (received.size === 0) throw new PlatformError(400, 'body: must not be empty')
      await uploads.put(place, id, partNumber, received)
    } finally {
      await received.discard()
    }
    sendJson(response, { partNumber, etag: received.etag } satisfies TakenPart)
  }

  const complete: RequestHandler = async (request, response) => {
    const place = await access.place(request)
    const { parts } = await readBody(completeUploadSchema, request)
    const etag = await uploads.complete(place, uploadIdOf(request), parts)
    response.setHeader('etag', quoted(etag))
    sendJson(response, { url: urlOf(publicUrl, place) } satisfies FileUrl)
  }

  const abort: RequestHandler = async (request, response) => {
    await uploads.abort(await access.place(request), uploadIdOf(request))
    response.status(204).end()
  }

  return { create, putPart, complete, abort }
}

function uploadIdOf({ query: { uploadId } }: Request): string {
  if (typeof uploadId === 'string' && uploadId !== '') return uploadId
  throw new PlatformError(400, 'uploadId: is required')
}

function partNumberOf({ query: { partNumber } }: Request): number {
  const number = typeof partNumber === 'string' && /^\d{1,5}$/.test(partNumber) ? Number(partNumber) : 0
  if (number >= PART_NUMBERS.least && number <= PART_NUMBERS.most) return number
  throw new PlatformError(400, `partNumber: must be an integer from ${PART_NUMBERS.least} to ${PART_NUMBERS.most}`)
}
