import { z } from 'zod'

/** Every status of an error, with its title and the last segment of its `type` (platform reference, section 4.2). */
export const problemStatus = {
  400: { title: 'Bad Request', slug: 'bad-request' },
  401: { title: 'Unauthorized', slug: 'unauthorized' },
  403: { title: 'Forbidden', slug: 'forbidden' },
  404: { title: 'Not Found', slug: 'not-found' },
  405: { title: 'Method Not Allowed', slug: 'method-not-allowed' },
  409: { title: 'Too Many Requests', slug: 'too-many-requests' },
  413: { title: 'Content Too Large', slug: 'content-too-large' },
  415: { title: 'Unsupported Media Type', slug: 'unsupported-media-type' },
  429: { title: 'Too Many Requests', slug: 'too-many-requests' },
  500: { title: 'Unknown Error', slug: 'unknown-error' },
  503: { title: 'Service Unavailable', slug: 'service-unavailable' },
  504: { title: 'Gateway Timeout', slug: 'gateway-timeout' },
  524: { title: 'A Timeout Occurred', slug: 'response-timeout' },
} as const

export type ProblemStatus = keyof typeof problemStatus

/** The error body of management, storage and gateway (section 4.1). */
export const problemSchema = z
  .strictObject({
    type: z.string().min(1).max(2048),
    title: z.string().min(1).max(2000),
    status: z.number().int(),
    detail: z.string().min(1).max(2000),
    instance: z.string().min(1).max(2048),
  })
  .meta({ id: 'PlatformProblem', description: 'An error.' })

export type Problem = z.infer<typeof problemSchema>
