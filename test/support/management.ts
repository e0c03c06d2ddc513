import { onTestFinished } from 'vitest'
import { silentLog } from '../../src/common/log.ts'
import { problemSchema } from '../../src/contracts/platform/problem.ts'
import type { Db } from '../../src/platform/base/database.ts'
import { listen } from '../../src/platform/base/listen.ts'
import { createMembers } from '../../src/platform/base/members.ts'
import { createRateWindows } from '../../src/platform/base/rate-windows.ts'
import { createManagementApp, type ManagementRoutes } from '../../src/platform/management/app.ts'

/** Under which problems are named in tests. */
export const BASE_URL = 'https://api.example.com'

export interface ManagementOptions {
  readonly db: Db
  readonly routes: ManagementRoutes
  readonly now?: () => number
  readonly requestsPerMinute?: number
}

/** Asks `{method} {path}` under `/api/public`. */
export type Ask = (line: string, init?: RequestInit) => Promise<Response>

/** Who may come in, and how often, by the records. */
export const managementParts = (db: Db, now: () => number) => ({
  members: createMembers(db),
  rateWindows: createRateWindows(db, now),
})

/** Serves the management API with some rooms' routes until the test ends. */
export async function serveManagement(options: ManagementOptions): Promise<Ask> {
  const { db, routes, now = Date.now, requestsPerMinute = 0 } = options
  const listening = await listen('127.0.0.1', 0)
  onTestFinished(() => listening.close(0))
  const settings = { baseUrl: BASE_URL, requestsPerMinute }
  listening.answer(createManagementApp({ ...managementParts(db, now), log: silentLog, settings, routes }))
  return (line, init) => {
    const [method = '', path = ''] = line.split(' ')
    return fetch(`http://127.0.0.1:${listening.port}/api/public${path}`, { method, ...init })
  }
}

/** The body of a refusal, which must be a problem object with the status of the answer. */
export async function problemIn(response: Response) {
  const problem = problemSchema.parse(await response.json())
  const [type, id] = [response.headers.get('content-type'), response.headers.get('x-request-id')]
  if (type !== 'application/problem+json') throw new Error(`a problem was sent as ${type}`)
  if (problem.status !== response.status) throw new Error(`${problem.status} was sent with status ${response.status}`)
  if (problem.type !== 'about:blank' && problem.instance !== `${BASE_URL}/i/${id}`)
    throw new Error(`${problem.instance} is not the request ${id}`)
  return problem
}
