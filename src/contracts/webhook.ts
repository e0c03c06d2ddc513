import { z } from 'zod'
import { problemSchema } from './problem.ts'
import { promptAnswerSchema, promptSchema, statsSchema } from './prompt.ts'

/** The signed call after success: what the request said, with the answer. */
export const promptCompleteSchema = promptAnswerSchema.extend({
  type: z.literal('prompt.complete'),
  timestamp: z.iso.datetime().meta({ description: 'When the prompt ended; the same at every attempt.' }),
})

/** The signed call after a failure, also after a cancellation. */
export const promptFailedSchema = z.object({
  type: z.literal('prompt.failed'),
  timestamp: z.iso.datetime().meta({ description: 'When the prompt ended; the same at every attempt.' }),
  id: z.string(),
  prompt: promptSchema,
  error: z.string().meta({ description: 'What went wrong, in one sentence.' }),
  ...problemSchema.pick({ code: true, location: true, node_id: true, node_type: true }).shape,
  problem: problemSchema,
})

/** The unsigned call for each file. */
export const outputCompleteSchema = z.object({
  event: z.literal('output.complete'),
  image: z.string().meta({ description: 'The file in base64, or a link to it when it is too large for a call.' }),
  id: z.string(),
  filename: z.string(),
  prompt: promptSchema,
  stats: statsSchema,
})

/** The unsigned call after a failure. */
export const outputFailedSchema = z.object({
  event: z.literal('prompt.failed'),
  id: z.string(),
  prompt: promptSchema,
  error: z.string().meta({ description: 'What went wrong, in one sentence.' }),
})
