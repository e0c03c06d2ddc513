import { z } from 'zod'
import type { EndpointDefinition } from '../../contracts/platform/inference-endpoint.ts'
import { freeJobBodySchema } from '../../contracts/platform/job-fields.ts'
import { transcribeBodySchema } from '../../contracts/platform/transcription.ts'
import { notFound } from '../base/errors.ts'
import { builtInEndpoints } from './built-in-endpoints.ts'

/** Who does the work of an endpoint: receives the input of a job as the application of a queue does (section 14.6). */
export interface EndpointProcessor {
  readonly url: string
  /** The most jobs at a time, of all organizations together. */
  readonly concurrency: number
}

/** An endpoint as an operator configures it; one with the name of a built-in one takes its place. */
export interface EndpointSetting extends EndpointDefinition {
  /** Without one its jobs stay pending. */
  readonly processor?: EndpointProcessor | undefined
  /** Names of the organizations it is offered to; all if not given. */
  readonly organizations?: readonly string[] | undefined
}

/** What an operator says of endpoints. */
export interface EndpointSettings {
  /** Beside the built-in ones. */
  readonly endpoints: readonly EndpointSetting[]
  /** Processors by the name of their endpoint; for the built-in ones. */
  readonly processors: Readonly<Record<string, EndpointProcessor>>
}

/** The body of a job, checked as far as its endpoint goes into it. */
export type EndpointJobBody = z.infer<typeof freeJobBodySchema>

/** The inference endpoints (platform reference, section 8.4). */
export interface EndpointBook {
  /** Those that an organization is offered, by name. */
  list(organizationName: string): readonly EndpointDefinition[]
  /** Throws 404 when it is not offered to the organization. */
  find(organizationName: string, name: string): EndpointDefinition
  /** What the bodies of its jobs must be. */
  bodySchemaOf(name: string): z.ZodType<EndpointJobBody>
  readonly processors: ReadonlyMap<string, EndpointProcessor>
}

/** Throws when the input schema of a configured endpoint is none that inputs can be checked against. */
export function createEndpointBook({ endpoints, processors }: EndpointSettings): EndpointBook {
  const settings = new Map<string, EndpointSetting>(
    [...builtInEndpoints(), ...endpoints].map((setting) => [setting.name, setting]),
  )
  const sorted = [...settings.values()].sort((one, other) => (one.name < other.name ? -1 : 1))
  const schemas = new Map(sorted.map((setting) => [setting.name, bodySchemaFor(setting)]))
  const offered = (organizationName: string) =>
    sorted.filter(({ organizations }) => organizations?.includes(organizationName) ?? true)
  return {
    list: (organizationName) => offered(organizationName).map(shown),
    find(organizationName, name) {
      const setting = offered(organizationName).find((endpoint) => endpoint.name === name)
      if (!setting) throw notFound('inference endpoint')
      return shown(setting)
    },
    bodySchemaOf: (name) => schemas.get(name) ?? freeJobBodySchema,
    processors: new Map([
      ...sorted.flatMap(({ name, processor }) => (processor ? ([[name, processor]] as const) : [])),
      ...Object.entries(processors),
    ]),
  }
}

const shown = ({ processor: _processor, organizations: _organizations, ...definition }: EndpointSetting) => definition

function bodySchemaFor({ name, input_schema }: EndpointSetting): z.ZodType<EndpointJobBody> {
  if (name === 'transcribe') return transcribeBodySchema
  if (name === 'transcription-lite') return freeJobBodySchema
  const inside = z.fromJSONSchema(JSON.parse(input_schema) as Parameters<typeof z.fromJSONSchema>[0])
  return freeJobBodySchema.superRefine(({ input }, context) => {
    for (const issue of inside.safeParse(input).error?.issues ?? [])
      context.addIssue({ code: 'custom', message: issue.message, path: ['input', ...issue.path] })
  })
}
