import { z } from 'zod'
import { integer, oneOf, record, text } from './fields.ts'

const MAX_PAGE = 100

type Input = { readonly input?: unknown }

/** From the first to the last day that calendars and the database agree on. */
const isInRange = (time: Date): boolean => time.getUTCFullYear() >= 1 && time.getUTCFullYear() <= 9999

/** A date and a time of day with any offset (RFC 3339). */
const moment = () => {
  const reason = 'must be a date-time such as 2025-01-01T00:00:00Z'
  return z.iso
    .datetime({
      offset: true,
      abort: true, // or it would be compared with the other one
      error: ({ input }: Input) => (input === undefined || input === null ? 'is required' : reason),
    })
    .transform((text) => new Date(text))
    .refine(isInRange, reason)
}

/** Which log entries are asked for: from `start_time` on, before `end_time` (platform reference, section 13). */
export const logQuerySchema = record({
  start_time: moment(),
  end_time: moment(),
  query: text(0, 20_000),
  page_size: integer(1, MAX_PAGE)
    .nullish()
    .transform((size) => size ?? MAX_PAGE),
  sort_order: oneOf(['desc', 'asc'])
    .nullish()
    .transform((order) => order ?? 'desc'),
}).refine(({ start_time, end_time }) => start_time < end_time, {
  path: ['end_time'],
  message: 'must be after start_time',
})

export type LogQuery = z.infer<typeof logQuerySchema>
