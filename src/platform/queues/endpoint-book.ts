import { z } from 'zod'
import type { EndpointDefinition } from '../../contracts/platform/inference-endpoint.ts'
import { freeJobBodySchema } from '../../contracts/platform/job-fields.ts'
import { transcribeBodySchema } from '../../contracts/platform/transcription.ts'
import { notFound } from '../base/errors.ts'
import { builtInEndpoints } from './built-in-endpoints.ts'
import type { EndpointProcessor, EndpointSetting } from './endpoint-setting.ts'

/** What an operator says of endpoints. */
export interface EndpointSettings {
  /** Beside the built-in ones; one with the name of a built-in one takes its place. */
  readonly endpoints: readonly EndpointSetting[]
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
  /** By the name of their endpoint. */
  readonly processors: ReadonlyMap<string, EndpointProcessor>
}

/** Throws when the input schema of a configured endpoint is none that inputs can be checked against. */
export function createEndpointBook({ endpoints }: EndpointSettings): EndpointBook {
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
    processors: new Map(sorted.flatMap(({ name, processor }) => (processor ? [[name, processor] as const] : []))),
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
