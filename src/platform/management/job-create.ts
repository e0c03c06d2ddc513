import type { Request } from 'express'
import type { Problem } from '../../contracts/platform/problem.ts'
import type { PlatformError } from '../base/errors.ts'
import { blankProblemOf, problemOf } from '../base/problem.ts'

const jobs = /^\/api\/public\/organizations\/[^/]+\/(?:inference-endpoints|projects\/[^/]+\/queues)\/[^/]+\/jobs\/?$/i

/** Bodies of errors under `baseUrl`: operations that create jobs name no type and only a short id (section 4.1). */
export const managementProblem =
  (baseUrl: string) =>
  (error: PlatformError, requestId: string, { method, originalUrl }: Request): Problem =>
    method === 'POST' && jobs.test(originalUrl.split('?')[0]!)
      ? blankProblemOf(error, requestId)
      : problemOf(error, baseUrl, requestId)
