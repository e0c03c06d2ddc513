import { z } from 'zod'

/** Every error code that may cross the workload's wire, and the status that carries it. */
export const problemStatus = {
  'invalid-json': 400,
  'invalid-request': 400,
  'no-output-node': 400,
  'invalid-graph': 400,
  'media-unavailable': 400,
  'media-unsupported': 400,
  'model-unavailable': 400,
  'model-unsupported': 400,
  'path-not-allowed': 400,
  'url-not-allowed': 400,
  'upload-not-configured': 400,
  forbidden: 403,
  'not-found': 404,
  'job-not-found': 404,
  'method-not-allowed': 405,
  cancelled: 409,
  'id-conflict': 409,
  'name-taken': 409,
  'not-redeliverable': 409,
  'body-too-large': 413,
  'media-too-large': 413,
  'model-too-large': 413,
  'result-too-large': 413,
  'unsupported-media-type': 415,
  'range-not-satisfiable': 416,
  'conversion-failed': 422,
  'queue-full': 429,
  'execution-failed': 500,
  'out-of-memory': 500,
  internal: 500,
  'upload-failed': 502,
  'download-failed': 502,
  'not-ready': 503,
  'no-speech-model': 503,
  draining: 503,
  'shutting-down': 503,
  'timed-out': 504,
} as const

export type ProblemCode = keyof typeof problemStatus

/** One fault of one node, in the words ComfyUI's clients compare. */
export const nodeFaultSchema = z
  .object({
    type: z.string(),
    message: z.string(),
    details: z.string(),
    extra_info: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'NodeFault', description: 'One fault of one node, as ComfyUI tells it.' })

/** ComfyUI's `node_errors`: node id → what is wrong with it and which outputs that costs. */
export const nodeErrorsSchema = z
  .record(
    z.string(),
    z.object({
      errors: z.array(nodeFaultSchema),
      dependent_outputs: z.array(z.string()),
      class_type: z.string().nullable(),
    }),
  )
  .meta({ id: 'NodeErrors', description: 'Node id → what is wrong with it, and which outputs that costs.' })

/** The one error body: a problem object (RFC 9457) that also carries what clients of the peer and of ComfyUI read. */
export const problemSchema = z
  .object({
    error: z.string().meta({ description: 'The fault in one sentence.' }),
    message: z.string(),
    statusCode: z.number().int(),
    type: z.literal('about:blank'),
    title: z.string(),
    status: z.number().int(),
    detail: z.string(),
    instance: z.string().meta({ description: 'The request id.' }),
    code: z.enum(Object.keys(problemStatus) as [ProblemCode, ...ProblemCode[]]),
    location: z.string().optional().meta({
      description: 'Path of the first faulty input.',
      example: 'prompt.5.inputs.image',
    }),
    errors: z
      .record(z.string(), z.array(z.string()))
      .optional()
      .meta({ description: 'All faults found: location → texts.' }),
    node_errors: nodeErrorsSchema.optional(),
    node_id: z.string().optional(),
    node_type: z.string().optional(),
    id: z.string().optional().meta({ description: 'The job’s id, if one was assigned.' }),
  })
  .meta({ id: 'Problem', description: 'An error; `error`, `message`, and `detail` say the same.' })

export type NodeFault = z.infer<typeof nodeFaultSchema>
export type NodeErrors = z.infer<typeof nodeErrorsSchema>
export type Problem = z.infer<typeof problemSchema>
