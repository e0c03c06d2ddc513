import type { z } from 'zod'

/** Variables that are set; an empty one counts as not set. */
export const nonEmpty = (environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))

/** Variables by what `schema` says of them. Throws one error that names every bad one. */
export function readEnvironment<Schema extends z.ZodType>(
  schema: Schema,
  environment: NodeJS.ProcessEnv,
): z.output<Schema> {
  const parsed = schema.safeParse(nonEmpty(environment))
  if (parsed.success) return parsed.data
  const faults = parsed.error.issues.map(({ path, message }) => `  ${path.join('.')}: ${message}`)
  throw new Error(`the configuration is not valid:\n${faults.join('\n')}`)
}
