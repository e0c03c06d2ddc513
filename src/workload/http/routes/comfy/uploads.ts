import { type Request, Router } from 'express'
import { parseExact } from '../../../../common/json.ts'
import { WorkloadError } from '../../../base/errors.ts'
import type { Jobs } from '../../../jobs/jobs.ts'
import type { PictureFiles, ReceivedFile, Upload } from '../../../jobs/picture-files.ts'
import { lendFile, readFileName } from '../../comfy/lend-file.ts'
import { methodNotAllowed } from '../../method-not-allowed.ts'
import { readForm } from '../../multipart.ts'

type Fields = ReadonlyMap<string, string>

/** `POST /upload/image` and `POST /upload/mask`: a picture for the input folder, streamed to disk. */
export function uploadsRoute(jobs: Jobs, files: PictureFiles, maxBytes: number): Router {
  const router = Router()
  const take = async (
    request: Request,
    place: (file: ReceivedFile, upload: Upload, fields: Fields) => Promise<string>,
  ) => {
    const { fields, file } = await readForm(request, {
      field: 'image',
      maxBytes,
      receive: files.receive,
      discard: (received) => received.discard(),
    })
    if (!file) throw new WorkloadError('invalid-request', 'image: a file is needed', { location: 'image' })
    try {
      const upload = uploadOf(file.name, fields)
      return { name: await place(file.received, upload, fields), subfolder: upload.subfolder, type: 'input' }
    } finally {
      await file.received.discard()
    }
  }
  router
    .route('/upload/image')
    .post(async (request, response) => {
      response.json(await take(request, (file, upload) => file.place(upload)))
    })
    .all(methodNotAllowed('POST'))
  router
    .route('/upload/mask')
    .post(async (request, response) => {
      const placed = await take(request, (file, upload, fields) =>
        lendFile({ jobs, files }, readFileName(originalOf(fields)), ({ path }) => file.placeAsMask(upload, path)),
      )
      response.json(placed)
    })
    .all(methodNotAllowed('POST'))
  return router
}

function uploadOf(filename: string | undefined, fields: Fields): Upload {
  const type = fields.get('type') ?? 'input'
  if (type !== 'input')
    throw new WorkloadError('invalid-request', 'type: pictures are uploaded to the input folder only', {
      location: 'type',
    })
  if (!filename) throw new WorkloadError('invalid-request', 'image: the file needs a name', { location: 'image' })
  const overwrite = ['true', '1'].includes(fields.get('overwrite') ?? '')
  return { filename, subfolder: (fields.get('subfolder') ?? '').replace(/\/+$/, ''), overwrite }
}

/** The picture that a mask belongs to; some clients write the field in camel case. */
function originalOf(fields: Fields): unknown {
  const text = fields.get('original_ref') ?? fields.get('originalRef')
  try {
    if (text !== undefined) return parseExact(text)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  throw new WorkloadError('invalid-request', 'original_ref: must be JSON {filename, subfolder, type}', {
    location: 'original_ref',
  })
}
