import express, { type Express, type Router } from 'express'
import type { Log } from '../../common/log.ts'
import { notFound } from '../base/errors.ts'
import type { Members } from '../base/members.ts'
import { createProblemHandler } from '../base/problem-handler.ts'
import type { RateWindows } from '../base/rate-windows.ts'
import { assignRequestId } from '../base/request-id.ts'
import { authenticate } from './authenticate.ts'
import { managementProblem } from './job-create.ts'
import { refuseUnknownRoutes } from './known-routes.ts'
import { findOrganization, findProject } from './organization.ts'
import { limitRequests } from './rate-limit.ts'
import { limitTime } from './time-limit.ts'

/** Of one operation (section 26). */
const OPERATION_MS = 30_000

const ORGANIZATION = '/api/public/organizations/:organization'
const PROJECT = `${ORGANIZATION}/projects/:project`

/** What the rooms answer, by what is checked before they are asked. */
export interface ManagementRoutes {
  /** Ask for no key, and are relative to the host. */
  readonly open?: readonly Router[]
  /** Relative to an organization the caller is a member of; see `organizationOf`. */
  readonly organization: readonly Router[]
  /** Relative to a project of it; see `projectOf`. */
  readonly project?: readonly Router[]
}

export interface ManagementSettings {
  /** Where clients find this API; `/api/public` is added. */
  readonly baseUrl: string
  /** Of one key; 0: no limit. */
  readonly requestsPerMinute: number
}

export interface ManagementServices {
  readonly members: Members
  readonly rateWindows: RateWindows
  readonly log: Log
  readonly settings: ManagementSettings
  readonly routes: ManagementRoutes
}

/** The management API. The order is that of section 4.3; what lies behind the project is checked by the routes. */
export function createManagementApp({ members, rateWindows, log, settings, routes }: ManagementServices): Express {
  const { open = [], organization, project = [] } = routes
  const mounts = [
    { prefix: '', routers: open },
    { prefix: ORGANIZATION, routers: organization },
    { prefix: PROJECT, routers: project },
  ]
  const { baseUrl, requestsPerMinute } = settings
  const app = express().disable('x-powered-by').disable('etag')
  app.use(assignRequestId, limitTime(OPERATION_MS), refuseUnknownRoutes(mounts), ...open)
  app.use('/api/public', authenticate(members), limitRequests(rateWindows, requestsPerMinute))
  app.use(ORGANIZATION, findOrganization(members))
  if (project.length > 0) app.use(PROJECT, findProject(members), ...project)
  app.use(ORGANIZATION, ...organization)
  app.use(() => {
    throw notFound('resource')
  })
  return app.use(createProblemHandler({ baseUrl, log, shape: managementProblem(baseUrl) }))
}
