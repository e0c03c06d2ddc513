import { isDeepStrictEqual } from 'node:util'
import { type GroupDefinition, groupDefinitionSchema } from '../../contracts/platform/container-group.ts'
import { checked, invalid } from '../base/read-body.ts'
import { parseCron } from '../instances/cron.ts'
import { isObject, mergePatch } from './merge-patch.ts'

/** Ids of the GPU classes there are. */
export type GpuClassIds = ReadonlySet<string>

/** Members whose null leaves what is stored: there is no group without them. */
const required = [
  ['replicas'],
  ['container', 'image'],
  ['container', 'resources', 'cpu'],
  ['container', 'resources', 'memory'],
  ['networking', 'port'],
]

const fixed = [
  ...[['name'], ['autostart_policy'], ['restart_policy']],
  ...['path', 'port', 'queue_name'].map((member) => ['queue_connection', member]),
  ...['auth', 'protocol', 'load_balancer', 'client_request_timeout', 'server_response_timeout'].map(networking),
  networking('single_connection_limit'),
]

/** A create body as a definition; null counts as absent. Throws 400. */
export const createdDefinition = (body: unknown, gpuClasses: GpuClassIds): GroupDefinition =>
  definitionOf(isObject(body) ? mergePatch({}, body) : body, gpuClasses)

/** What a merge patch makes of a definition. Throws 400, also for a change of what is fixed after creation. */
export function patchedDefinition(stored: GroupDefinition, patch: unknown, gpuClasses: GpuClassIds): GroupDefinition {
  if (!isObject(patch)) throw invalid({ body: ['must be an object'] })
  // A deleted queue leaves an autoscaler without effect, which would be refused.
  const { queue_autoscaler: _lost, ...rest } = stored
  const merged = mergePatch(stored.queue_connection ? stored : rest, withoutEmptyRequired(patch))
  const definition = definitionOf(merged, gpuClasses)
  const changed = fixed.filter((path) => !isDeepStrictEqual(at(stored, path), at(definition, path)))
  if (changed.length > 0)
    throw invalid(Object.fromEntries(changed.map((path) => [path.join('.'), ['cannot be changed after creation']])))
  return definition
}

function definitionOf(value: unknown, gpuClasses: GpuClassIds): GroupDefinition {
  const definition = checked(groupDefinitionSchema, value)
  const faults: Record<string, readonly string[]> = {}
  for (const [i, { schedule }] of definition['scaling-actions'].entries())
    if (!parseCron(schedule)) faults[`scaling-actions.${i}.schedule`] = ['must be a cron schedule of five fields']
  for (const [i, id] of definition.container.resources.gpu_classes.entries())
    if (!gpuClasses.has(id)) faults[`container.resources.gpu_classes.${i}`] = ['must be a known GPU class']
  if (Object.keys(faults).length > 0) throw invalid(faults)
  return JSON.parse(JSON.stringify(definition)) // as it comes back from the database: without undefined members
}

function withoutEmptyRequired(patch: unknown, path: readonly string[] = []): unknown {
  if (!isObject(patch)) return patch
  const isKept = ([name, value]: [string, unknown]): boolean =>
    value !== null || !required.some((one) => isDeepStrictEqual(one, [...path, name]))
  const members = Object.entries(patch).filter(isKept)
  return Object.fromEntries(members.map(([name, value]) => [name, withoutEmptyRequired(value, [...path, name])]))
}

const at = (value: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((inner, member) => (isObject(inner) ? inner[member] : undefined), value)

function networking(member: string): string[] {
  return ['networking', member]
}
