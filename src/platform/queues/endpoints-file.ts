import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { endpointDefinitionSchema } from '../../contracts/platform/inference-endpoint.ts'
import { nameSchema } from '../../contracts/platform/names.ts'
import { messageOf } from '../base/errors.ts'
import { builtInEndpoints } from './built-in-endpoints.ts'
import { DEFAULT_CONCURRENCY, type EndpointSetting, workloadPathOf } from './endpoint-setting.ts'

/** Stands for a reference workload that the platform itself runs. */
const OWN = 'workload'

/** A square, in black. */
const ICON =
  'data:image/svg+xml,%3Csvg%20xmlns=%22http://www.w3.org/2000/svg%22%20viewBox=%220%200%2016%2016%22%3E%3Crect%20x=%222%22%20y=%222%22%20width=%2212%22%20height=%2212%22%20rx=%222%22/%3E%3C/svg%3E'

const isWebUrl = (url: string) => /^https?:\/\//i.test(url) && URL.canParse(url)

const processorSchema = z
  .preprocess(
    (value) => (value === OWN ? { url: OWN } : value),
    z.strictObject({
      url: z.string().refine((url) => url === OWN || isWebUrl(url), `must be an http or https URL, or "${OWN}"`),
      concurrency: z.number().int().min(1).max(1000).default(DEFAULT_CONCURRENCY),
    }),
  )
  .nullish()

/** A JSON Schema, as an object or as one line of text; becomes the latter. */
const jsonSchema = z.preprocess(
  (value) => (typeof value === 'string' ? value : JSON.stringify(value)),
  z.string().superRefine((text, context) => {
    try {
      z.fromJSONSchema(JSON.parse(text))
    } catch (error) {
      context.addIssue(`must be a JSON Schema: ${messageOf(error)}`)
    }
  }),
)

const { id, name, display_name, description, icon_url, price_description, readme } = endpointDefinitionSchema.shape

const entrySchema = z.strictObject({
  id: id.optional(),
  name,
  display_name: display_name.optional(),
  description: description.optional(),
  icon_url: icon_url.optional(),
  input_schema: jsonSchema.pipe(endpointDefinitionSchema.shape.input_schema).optional(),
  output_schema: jsonSchema.pipe(endpointDefinitionSchema.shape.output_schema).optional(),
  price_description: price_description.optional(),
  readme: readme.optional(),
  processor: processorSchema,
  organizations: z.array(nameSchema).optional(),
})

const fileSchema = z
  .array(entrySchema)
  .refine((entries) => isWithoutRepeats(entries.map((entry) => entry.name)), 'must not repeat a name')
  .transform((entries) => entries.map(settingOf))
  .refine((settings) => isWithoutRepeats(settings.map((setting) => setting.id)), 'must not repeat an id')

/**
 * The operator's endpoints, a JSON list. All but the name may be left out; one with the name of a built-in endpoint changes
 * what it says and leaves the rest. Throws an error that names the file and every fault in it.
 */
export async function readEndpoints(file: string): Promise<readonly EndpointSetting[]> {
  const parsed = fileSchema.safeParse(jsonOf(await readFile(file, 'utf8'), file))
  if (!parsed.success) throw new Error(`the endpoints in ${file} are not valid:\n${z.prettifyError(parsed.error)}`)
  return parsed.data
}

function jsonOf(text: string, file: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Error(`the endpoints in ${file} are not valid: ${messageOf(cause)}`, { cause })
  }
}

function settingOf({ processor, ...entry }: z.output<typeof entrySchema>): EndpointSetting {
  const builtIn = builtInEndpoints().find((endpoint) => endpoint.name === entry.name)
  const given = Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== undefined))
  const usual = builtIn ?? usualFor(entry)
  if (processor === undefined) return { ...usual, ...given }
  if (processor === null) return { ...usual, ...given, processor: undefined }
  const { url, concurrency } = processor
  return { ...usual, ...given, processor: { url: url === OWN ? workloadPathOf(entry.name) : url, concurrency } }
}

/** What an endpoint says of itself where its operator says nothing. */
function usualFor({ name, display_name = name, description }: z.output<typeof entrySchema>): EndpointSetting {
  return {
    ...{ id: idFor(name), name, display_name, description: '', icon_url: ICON },
    ...{ input_schema: '{"type":"object"}', output_schema: '{}' },
    ...{ price_description: 'Set by the operator', readme: description || display_name },
  }
}

/** The same at every start and in every process: a UUID made of the name. */
function idFor(name: string): string {
  const digits = createHash('sha256').update(name).digest('hex')
  return [digits.slice(0, 8), digits.slice(8, 12), `4${digits.slice(13, 16)}`, `8${digits.slice(17, 20)}`]
    .concat(digits.slice(20, 32))
    .join('-')
}

const isWithoutRepeats = (words: readonly string[]): boolean => new Set(words).size === words.length
