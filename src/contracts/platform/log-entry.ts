import { z } from 'zod'

/** From the least to the most urgent; what an application prints is `default` (platform reference, section 7). */
export const logSeverities = [
  'default',
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
] as const

/** What an application printed, or what happened to a group or an instance (platform reference, section 8.13). */
export const logEntrySchema = z
  .strictObject({
    time: z.iso.datetime(),
    receive_time: z.iso.datetime(),
    severity: z.enum(logSeverities),
    resource: z.strictObject({ type: z.string().min(1).max(1000), labels: z.record(z.string(), z.string()) }),
    text_log: z.string().max(10_000).optional(),
    json_log: z.record(z.string(), z.unknown()).optional(),
  })
  .refine(
    ({ text_log, json_log }) => text_log === undefined || json_log === undefined,
    'must not be text and JSON at once',
  )

/** A page of log entries; its times are those of its first and last entry, or of the question when it is empty. */
export const logPageSchema = z.strictObject({
  items: z.array(logEntrySchema).max(100),
  organization_name: z.string(),
  page_min_time: z.iso.datetime(),
  page_max_time: z.iso.datetime(),
})

export type LogSeverity = (typeof logSeverities)[number]
