import { resolve } from 'node:path'
import { type Response, Router } from 'express'
import type { Jobs } from '../../../jobs/jobs.ts'
import type { FoundFile, PictureFiles, View } from '../../../jobs/picture-files.ts'
import { lendFile, readFileName } from '../../comfy/lend-file.ts'
import { methodNotAllowed } from '../../method-not-allowed.ts'

/** Types that a browser shows without running anything in them. */
const harmless = /^(image\/(?!svg)|video\/|audio\/|text\/plain$)/
const DEFAULT_QUALITY = 90

/** `GET /view?filename&subfolder&type&preview&channel`: a picture of a job's, or of the input, output and temp folders. */
export function viewRoute(jobs: Jobs, files: PictureFiles): Router {
  const router = Router()
  router
    .route('/view')
    .get(async ({ query }, response) => {
      const name = readFileName(query)
      const view = viewOf(query.preview, query.channel)
      response.set({
        'content-disposition': `filename="${name.filename.replace(/[^\x20-\x7e]|["\\]/g, '_')}"`,
        'x-content-type-options': 'nosniff',
      })
      await lendFile({ jobs, files }, name, async (file) => {
        if (!view) return sendAsItIs(response, file)
        const { data, mime } = await files.view(file.path, view)
        response.type(mime).send(data)
      })
    })
    .all(methodNotAllowed('GET', 'HEAD'))
  return router
}

/** Upstream makes previews in WebP unless JPEG is asked for without transparency. */
function viewOf(preview: unknown, channel: unknown): View | undefined {
  const opaque = channel === 'rgb'
  if (typeof preview === 'string') {
    const [format, quality] = [preview.split(';')[0], Number(/;(\d{1,3})$/.exec(preview)?.[1] ?? DEFAULT_QUALITY)]
    return {
      format: format === 'jpeg' && opaque ? 'jpeg' : 'webp',
      quality: Math.min(Math.max(quality, 1), 100),
      opaque,
    }
  }
  return channel === 'rgb' || channel === 'a' ? { channel } : undefined
}

async function sendAsItIs(response: Response, { path, mime }: FoundFile): Promise<void> {
  response.type(harmless.test(mime) ? mime : 'application/octet-stream')
  await new Promise<void>((done, fail) =>
    response.sendFile(resolve(path), { dotfiles: 'allow', cacheControl: false }, (error) =>
      error ? fail(error) : done(),
    ),
  )
}
