import express, { type Express, type RequestHandler } from 'express'
import { PlatformError } from '../base/errors.ts'
import type { Members } from '../base/members.ts'
import { createProblemHandler } from '../base/problem-handler.ts'
import { assignRequestId } from '../base/request-id.ts'
import { createAccess, type VerifyToken } from './access.ts'
import { allowPages } from './cors.ts'
import { fileRoutes } from './file-routes.ts'
import { createFiles, type StorageDeps } from './files.ts'
import { fileList, under } from './place.ts'
import { createSignatures } from './signatures.ts'
import { uploadRoutes } from './upload-routes.ts'
import { createUploads } from './uploads.ts'

export interface StorageAppDeps extends StorageDeps {
  readonly members: Members
  /** The address of this surface, without a slash at its end. */
  readonly publicUrl: string
  readonly verifyToken: VerifyToken
}

/** The storage API (section 22). Every operation asks for a credential itself, for which ones do depends on the operation. */
export function createStorageApp(deps: StorageAppDeps): Express {
  const { db, members, now, log, publicUrl, settings, verifyToken } = deps
  const signatures = createSignatures(db, now)
  const services = {
    access: createAccess({ members, signatures, verifyToken }),
    files: createFiles(deps),
    signatures,
    uploads: createUploads(deps),
    receive: deps.blobs.receive,
    publicUrl,
    settings,
  }
  const file = fileRoutes(services)
  const upload = uploadRoutes(services)
  const app = express().disable('x-powered-by').disable('etag')
  app.use(assignRequestId, allowPages)
  app.route(fileList).get(file.list).all(onlyWith('GET', 'HEAD'))
  app
    .route(under('files'))
    .get(file.read)
    .put(byAction(file.write, { 'mpu-create': upload.create, 'mpu-complete': upload.complete }))
    .delete(byAction(file.remove, { 'mpu-abort': upload.abort }))
    .all(onlyWith('GET', 'HEAD', 'PUT', 'DELETE'))
  app.route(under('file_tokens')).post(file.sign).all(onlyWith('POST'))
  app.route(under('file_parts')).put(upload.putPart).all(onlyWith('PUT'))
  app.use(() => {
    throw new PlatformError(404, 'The resource could not be found.')
  })
  return app.use(createProblemHandler({ baseUrl: publicUrl, log }))

  /** What `action` asks for. An unknown one is refused like any other bad value: to those with access only. */
  function byAction(plain: RequestHandler, actions: Readonly<Record<string, RequestHandler>>): RequestHandler {
    return async (request, response, next) => {
      const { action } = request.query
      if (action === undefined) return plain(request, response, next)
      if (typeof action === 'string' && Object.hasOwn(actions, action)) return actions[action]!(request, response, next)
      await services.access.place(request)
      throw new PlatformError(400, 'action: is not one that there is')
    }
  }
}

function onlyWith(...methods: readonly string[]): RequestHandler {
  const allow = [...methods, 'OPTIONS'].join(', ')
  return ({ method }) => {
    throw new PlatformError(405, `${method} is not allowed here, only ${allow}.`, { headers: { allow } })
  }
}
