import express, { type Express } from 'express'
import type { Log } from '../../common/log.ts'
import { WorkloadError } from '../base/errors.ts'
import type { Metrics } from '../base/metrics.ts'
import type { Downloads } from '../jobs/downloads.ts'
import type { Jobs } from '../jobs/jobs.ts'
import type { PictureFiles } from '../jobs/picture-files.ts'
import type { Declarations, ModelFolders } from '../jobs/ports.ts'
import type { Transcriptions } from '../jobs/transcriptions.ts'
import { requireApiKey } from './api-key.ts'
import type { ComfyDesk } from './comfy/comfy-desk.ts'
import { countRequests } from './count-requests.ts'
import { refuseForeignPages } from './foreign-page.ts'
import { commandBody, jsonBody } from './json-body.ts'
import { problemHandler } from './problem-handler.ts'
import { assignRequestId } from './request-id.ts'
import { comfyRoutes, prefixedComfyRoutes } from './routes/comfy/comfy-routes.ts'
import { docsRoute } from './routes/docs.ts'
import { downloadRoute } from './routes/download.ts'
import { downloadsRoute } from './routes/downloads.ts'
import { healthRoute } from './routes/health.ts'
import { jobEventsRoute } from './routes/job-events.ts'
import { jobsRoute } from './routes/jobs.ts'
import { metricsRoute } from './routes/metrics.ts'
import { modelsRoute } from './routes/models.ts'
import { promptRoute } from './routes/prompt.ts'
import { readyRoute } from './routes/ready.ts'
import { transcribeRoute } from './routes/transcribe.ts'

export interface AppServices {
  readonly jobs: Jobs
  readonly declarations: Omit<Declarations, 'validate'>
  readonly models: ModelFolders
  /** ComfyUI's view of the jobs. */
  readonly desk: ComfyDesk
  readonly files: PictureFiles
  readonly log: Log
  readonly maxBodyBytes: number
  /** The most bytes of an uploaded picture. */
  readonly inputMaxBytes: number
  /** When there is one, every route but the probes asks for it. */
  readonly apiKey: string | undefined
  /** What `/download` has begun. */
  readonly downloads: Downloads
  readonly transcriptions: Transcriptions
  readonly metrics: Pick<Metrics, 'text' | 'onRequest'>
  /** The header in which a queue's worker sends the id of its job; empty: none. */
  readonly jobIdHeader: string
}

/** The HTTP interface. The order matters: probes answer whoever asks, all else only those who have the key. */
export function createApp(services: AppServices): Express {
  const { jobs, models, metrics, downloads, log, maxBodyBytes, apiKey } = services
  const app = express().disable('x-powered-by').disable('etag')
  app.use(countRequests(metrics.onRequest, Date.now), assignRequestId, healthRoute(jobs), readyRoute(jobs))
  if (apiKey !== undefined) app.use(requireApiKey(apiKey))
  const comfy = { ...services, body: jsonBody(maxBodyBytes), command: commandBody(maxBodyBytes) }
  app.use(prefixedComfyRoutes(comfy))
  app.use(
    promptRoute(jobs, { ...services, body: comfy.body }),
    jobEventsRoute(jobs),
    jobsRoute(jobs),
    modelsRoute(models),
  )
  app.use(transcribeRoute(services.transcriptions, comfy.body))
  app.use(metricsRoute(metrics), downloadRoute(downloads, comfy.body), downloadsRoute(downloads), docsRoute())
  app.use(refuseForeignPages, comfyRoutes(comfy))
  app.use(({ method, path }) => {
    throw new WorkloadError('not-found', `there is no ${method} ${path}`)
  })
  return app.use(problemHandler(log))
}
