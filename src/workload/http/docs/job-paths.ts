import { z } from 'zod'
import type { ZodOpenApiPathsObject } from 'zod-openapi'
import { jobRecordSchema } from '../../../contracts/job.ts'
import { bytes, json, lookAgain, problems, text } from './answers.ts'
import { tags } from './tags.ts'

const path = z.object({ id: z.string().meta({ description: 'The id of the prompt.' }) })
const output = path.extend({
  index: z.int().min(0).meta({ description: 'The place of the file in `images`, from 0.' }),
})
const EVENTS = `
Server-sent events: first \`status\` with the record without its result, then \`execution_start\`, \`execution_cached\`,
\`executing\`, \`progress\`, \`preview\` and \`executed\` as they happen, and \`complete\` or \`failed\` at the end of the stream.
`.trim()

/** What became of prompts. */
export const jobPaths: ZodOpenApiPathsObject = {
  '/jobs': {
    get: {
      operationId: 'listJobs',
      summary: 'All jobs that are known here',
      tags: [tags.jobs],
      responses: {
        200: json('Their records, without results.', z.object({ jobs: z.array(jobRecordSchema) })),
        ...problems(),
      },
    },
  },
  '/jobs/{id}': {
    get: {
      operationId: 'getJob',
      summary: 'The state of a job, and its result',
      tags: [tags.jobs],
      requestParams: {
        path,
        query: z.object({
          result: z.enum(['true', 'false']).optional().meta({ description: '`false` leaves the result out.' }),
        }),
      },
      responses: { 200: json('Its record.', jobRecordSchema, lookAgain), ...problems('job-not-found') },
    },
    delete: {
      operationId: 'cancelJob',
      summary: 'Cancel a job that waits or runs',
      tags: [tags.jobs],
      requestParams: { path },
      responses: {
        200: json('It had ended already; nothing has changed.', jobRecordSchema),
        202: json('It is cancelled: at once if it waits, at the next step if it runs.', jobRecordSchema, lookAgain),
        ...problems('job-not-found'),
      },
    },
  },
  '/jobs/{id}/events': {
    get: {
      operationId: 'followJob',
      summary: 'What happens to a job, while it happens',
      description: EVENTS,
      tags: [tags.jobs],
      requestParams: {
        path,
        query: z.object({
          previews: z.enum(['true', 'false']).optional().meta({ description: '`false` leaves the previews out.' }),
        }),
        header: z.object({
          'Last-Event-ID': z.string().optional().meta({ description: 'The last event that is not wanted again.' }),
        }),
      },
      responses: { 200: text('The events.', 'text/event-stream'), ...problems('job-not-found') },
    },
  },
  '/jobs/{id}/outputs/{index}': {
    get: {
      operationId: 'readOutput',
      summary: 'The bytes of one output',
      tags: [tags.jobs],
      requestParams: {
        path: output,
        header: z.object({
          Range: z.string().optional().meta({ description: 'For a part of the file.', example: 'bytes=0-99' }),
        }),
      },
      responses: {
        200: bytes('The file.'),
        206: bytes('A part of the file.', { 'Content-Range': z.string() }),
        ...problems('job-not-found', 'not-found', 'range-not-satisfiable'),
      },
    },
  },
  '/jobs/{id}/redeliver': {
    post: {
      operationId: 'redeliverJob',
      summary: 'Try again what could not be delivered',
      tags: [tags.jobs],
      requestParams: { path },
      responses: {
        202: json('Its record; the deliveries that had failed are pending again.', jobRecordSchema),
        ...problems('job-not-found', 'not-redeliverable'),
      },
    },
  },
}
