import express, { type Express } from 'express'
import { WorkloadError } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import type { Jobs } from '../jobs/create-jobs.ts'
import type { Declarations, ModelFolders } from '../jobs/ports.ts'
import { requireApiKey } from './api-key.ts'
import { jsonBody } from './json-body.ts'
import { problemHandler } from './problem-handler.ts'
import { assignRequestId } from './request-id.ts'
import { healthRoute } from './routes/health.ts'
import { interruptRoute } from './routes/interrupt.ts'
import { jobEventsRoute } from './routes/job-events.ts'
import { jobsRoute } from './routes/jobs.ts'
import { modelsRoute } from './routes/models.ts'
import { objectInfoRoute } from './routes/object-info.ts'
import { promptRoute } from './routes/prompt.ts'
import { readyRoute } from './routes/ready.ts'

export interface AppServices {
  readonly jobs: Jobs
  readonly declarations: Omit<Declarations, 'validate'>
  readonly models: ModelFolders
  readonly log: Log
  readonly maxBodyBytes: number
  /** When there is one, every route but the probes asks for it. */
  readonly apiKey: string | undefined
}

/** The HTTP interface. The order matters: probes answer whoever asks, all else only those who have the key. */
export function createApp({ jobs, declarations, models, log, maxBodyBytes, apiKey }: AppServices): Express {
  const app = express().disable('x-powered-by').disable('etag')
  app.use(assignRequestId, healthRoute(jobs), readyRoute(jobs))
  if (apiKey !== undefined) app.use(requireApiKey(apiKey))
  const body = jsonBody(maxBodyBytes)
  app.use(promptRoute(jobs, body), interruptRoute(jobs, body), jobEventsRoute(jobs), jobsRoute(jobs))
  app.use(modelsRoute(models), objectInfoRoute(declarations))
  app.use(({ method, path }) => {
    throw new WorkloadError('not-found', `there is no ${method} ${path}`)
  })
  return app.use(problemHandler(log))
}
