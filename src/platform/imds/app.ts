import express, { type Express, type RequestHandler, type Response } from 'express'
import type { Log } from '../../common/log.ts'
import {
  type ImdsDeletionCost,
  type ImdsStatus,
  type ImdsToken,
  imdsDeletionCostSchema,
  imdsReallocateSchema,
} from '../../contracts/platform/imds.ts'
import { notFound, PlatformError } from '../base/errors.ts'
import { sendJson } from '../base/json.ts'
import { createProblemHandler } from '../base/problem-handler.ts'
import { readBody } from '../base/read-body.ts'
import { assignRequestId } from '../base/request-id.ts'
import { checkHeaders } from './check-headers.ts'
import type { IdentityTokens } from './identity-tokens.ts'
import { imdsError, imdsProblem } from './imds-problem.ts'
import type { ImdsInstance, InstanceView } from './instance.ts'
import { createTokenCache } from './token-cache.ts'

const MAX_BODY_BYTES = 65_536

export interface ImdsDeps {
  /** Who asks: whatever reaches this app's listener speaks for this instance, and nothing in a request changes that. */
  readonly instance: ImdsInstance
  readonly tokens: Pick<IdentityTokens, 'issue'>
  /** How long a token is handed out again, in seconds. */
  readonly cacheSeconds: number
  /** Of the management API, without a final slash. */
  readonly baseUrl: string
  /** Epoch milliseconds. */
  readonly now: () => number
  readonly log: Log
}

/**
 * The metadata service of one instance (platform reference, section 20), to be served on a listener of its own. What is
 * wrong is told in this order: headers, path, method, instance, size, media type, body.
 */
export function createImdsApp({ instance, tokens, cacheSeconds, baseUrl, now, log }: ImdsDeps): Express {
  const token = createTokenCache({ issue: tokens.issue, cacheSeconds, now })

  const seen = async (): Promise<InstanceView> => {
    const view = await instance.view()
    if (!view) throw imdsError(404, 'The container instance could not be found.', 'container-not-found')
    return view
  }

  /** The container hears of it before it ends by it. */
  const answerThen = (response: Response, action: () => Promise<void>): void => {
    response.once('close', () => {
      action().catch((err: unknown) => log.error({ err }, 'an instance could not do what it asked for itself'))
    })
    response.status(204).end()
  }

  const app = express()
  app.disable('x-powered-by').disable('etag').enable('case sensitive routing').enable('strict routing')
  app.use(assignRequestId, keepNothing, checkHeaders)

  app
    .route('/v1/token')
    .all(only('GET', 'HEAD'))
    .get(async (_request, response) => {
      const answer: ImdsToken = { jwt: await token((await seen()).identity) }
      sendJson(response, answer)
    })
  app
    .route('/v1/status')
    .all(only('GET', 'HEAD'))
    .get(async (_request, response) => {
      const answer: ImdsStatus = (await seen()).status
      sendJson(response, answer)
    })
  app
    .route('/v1/deletion-cost')
    .all(only('GET', 'HEAD', 'PUT'))
    .get(async (_request, response) => {
      const answer: ImdsDeletionCost = { deletion_cost: (await seen()).deletion_cost }
      sendJson(response, answer)
    })
    .put(async (request, response) => {
      await seen()
      const { deletion_cost } = await readBody(imdsDeletionCostSchema, request, { maxBytes: MAX_BODY_BYTES })
      await instance.setDeletionCost(deletion_cost)
      response.status(204).end()
    })
  app
    .route('/v1/recreate')
    .all(only('POST'))
    .post(async (_request, response) => {
      await seen()
      answerThen(response, () => instance.recreate())
    })
  app
    .route('/v1/restart')
    .all(only('POST'))
    .post(async (_request, response) => {
      await seen()
      answerThen(response, () => instance.restart())
    })
  app
    .route('/v1/reallocate')
    .all(only('POST'))
    .post(async (request, response) => {
      await seen()
      const { reason } = await readBody(imdsReallocateSchema, request, { maxBytes: MAX_BODY_BYTES })
      answerThen(response, () => instance.reallocate(reason))
    })

  app.use(() => {
    throw notFound('resource')
  })
  return app.use(createProblemHandler({ baseUrl, log, shape: imdsProblem(baseUrl) }))
}

/** Tokens and probe results are for one moment. */
const keepNothing: RequestHandler = (_request, response, next) => {
  response.setHeader('cache-control', 'no-store')
  next()
}

const only =
  (...allowed: readonly string[]): RequestHandler =>
  ({ method }, _response, next) => {
    const allow = allowed.join(', ')
    if (!allowed.includes(method))
      throw new PlatformError(405, `${method} is not allowed here, only ${allow}.`, { headers: { allow } })
    next()
  }
