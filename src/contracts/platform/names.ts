import { z } from 'zod'

/** Of an organization, a project, a queue, an inference endpoint or a container group. */
const NAME_PATTERN = /^[a-z][a-z0-9-]{0,61}[a-z0-9]$/

/** A name as paths have it. */
export const nameSchema = z
  .string()
  .regex(NAME_PATTERN, 'must be 2 to 63 lower-case letters, digits and hyphens, from a letter to a letter or digit')
