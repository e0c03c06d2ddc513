import { type RequestHandler, Router } from 'express'
import type { Jobs } from '../../../jobs/jobs.ts'
import type { PictureFiles } from '../../../jobs/picture-files.ts'
import type { Declarations, ModelFolders } from '../../../jobs/ports.ts'
import type { ComfyDesk } from '../../comfy/comfy-desk.ts'
import { refuseForeignPages } from '../../foreign-page.ts'
import { methodNotAllowed } from '../../method-not-allowed.ts'
import { interruptRoute } from '../interrupt.ts'
import { objectInfoRoute } from '../object-info.ts'
import { freeRoute } from './free.ts'
import { modelFilesRoute, modelFolderNamesRoute } from './models.ts'
import { submitPrompt, tellRemaining } from './prompt.ts'
import { historyRoute, queueRoute } from './queue.ts'
import { systemRoute } from './system.ts'
import { uploadsRoute } from './uploads.ts'
import { viewRoute } from './view.ts'

export interface ComfyServices {
  readonly jobs: Jobs
  readonly desk: ComfyDesk
  readonly files: PictureFiles
  readonly models: ModelFolders
  readonly declarations: Omit<Declarations, 'validate'>
  /** The most bytes of an uploaded picture. */
  readonly inputMaxBytes: number
  /** Parses a body that must be there, and one that may be. */
  readonly body: readonly RequestHandler[]
  readonly command: readonly RequestHandler[]
}

/** ComfyUI's own routes, but for `/prompt` and `/models`, which are ours as well. */
export function comfyRoutes(services: ComfyServices): Router {
  const { jobs, desk, files, models, declarations, inputMaxBytes, command } = services
  return Router().use(
    queueRoute(jobs, desk, command),
    historyRoute(desk, command),
    interruptRoute(jobs, desk, command),
    freeRoute(jobs, command),
    viewRoute(jobs, files),
    uploadsRoute(jobs, files, inputMaxBytes),
    objectInfoRoute(declarations),
    modelFilesRoute(models),
    systemRoute(jobs, inputMaxBytes),
  )
}

/** The same below `/api`, where all routes are ComfyUI's. */
export function prefixedComfyRoutes(services: ComfyServices): Router {
  const { jobs, desk, models, body } = services
  const router = Router()
  router
    .route('/prompt')
    .get(tellRemaining(desk))
    .post(...body, ...submitPrompt(jobs, () => true))
    .all(methodNotAllowed('GET', 'HEAD', 'POST'))
  return Router().use('/api', refuseForeignPages, router, modelFolderNamesRoute(models), comfyRoutes(services))
}
