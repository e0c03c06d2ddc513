import { Router } from 'express'
import { stringifyExact } from '../../common/json.ts'
import { logQuerySchema } from '../../contracts/platform/log-query.ts'
import type { Db } from '../base/database.ts'
import { readBody } from '../base/read-body.ts'
import { type FoundLogEntry, findLogEntries } from './find-log-entries.ts'
import { organizationOf } from './organization.ts'
import { parseLogQuery } from './parse-log-query.ts'
import { sendText } from './send-text.ts'

/** `POST …/log-entries`: what applications printed and what happened to groups and instances (section 13). */
export function createLogEntriesRoutes(db: Db): Router {
  const router = Router()
  router.post('/log-entries', async (request, response) => {
    const { start_time, end_time, query, page_size, sort_order } = await readBody(logQuerySchema, request)
    const filter = parseLogQuery(query)
    const { id, name } = organizationOf(response)
    const entries = await findLogEntries(
      db,
      { organizationId: id, start: start_time, end: end_time, filter, order: sort_order, limit: page_size },
      () => !response.headersSent && !response.destroyed,
    )
    if (response.headersSent) return // it took too long, which has been answered
    const times = entries.length === 0 ? [start_time, end_time] : entries.map(({ time }) => time)
    const [first, last] = [times[0]!, times.at(-1)!] // there is one at least
    const members = stringifyExact({
      organization_name: name,
      page_min_time: first < last ? first : last,
      page_max_time: first < last ? last : first,
    })
    sendText(response, `{"items":[${entries.map(entryText).join(',')}],${members.slice(1)}`)
  })
  return router
}

/** An entry as JSON text (section 8.13). What an application printed as JSON is set in as it is stored. */
function entryText({
  time,
  receive_time,
  severity,
  resource_type,
  labels,
  text_log,
  json_text,
}: FoundLogEntry): string {
  const resource = { type: resource_type, labels }
  const text = stringifyExact({ time, receive_time, severity, resource, text_log: text_log ?? undefined })
  return json_text === null ? text : `${text.slice(0, -1)},"json_log":${json_text}}`
}
