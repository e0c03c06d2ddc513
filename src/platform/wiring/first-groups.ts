import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { Log } from '../../common/log.ts'
import type { GroupDefinition } from '../../contracts/platform/container-group.ts'
import { type QueueBody, queueBodySchema } from '../../contracts/platform/queue.ts'
import type { Db } from '../base/database.ts'
import { messageOf, PlatformError } from '../base/errors.ts'
import { checked } from '../base/read-body.ts'
import type { Config } from '../config.ts'
import { selectGroups } from '../instances/group-record.ts'
import { createGroup, type GroupCreation, type GroupOwner } from '../management/create-group.ts'
import { createdDefinition, type GpuClassIds } from '../management/group-definition.ts'
import type { QueueBook } from '../queues/queue-book.ts'

/** What a file says that there should be: queues, and groups that may be connected to them. */
export interface FirstGroups {
  readonly file: string
  readonly queues: readonly QueueBody[]
  readonly groups: readonly GroupDefinition[]
}

/**
 * Reads the file of first groups, where there is one: a create body (platform reference, section 8.9), a list of them, or
 * `{ "queues": [...], "groups": [...] }`. Throws an error that names the file, each bad member and what is wrong with it.
 */
export async function readFirstGroups(
  { firstGroups }: Pick<Config, 'firstGroups'>,
  gpuClasses: GpuClassIds,
): Promise<FirstGroups | undefined> {
  const file = firstGroups.file ?? firstGroups.usual
  if (firstGroups.file === undefined && !existsSync(file)) return undefined
  const { queues, groups } = await readParts(file)
  return {
    file,
    queues: queues.map(({ member, value }) => named(file, member, () => checked(queueBodySchema, value))),
    groups: groups.map(({ member, value }) => named(file, member, () => createdDefinition(value, gpuClasses))),
  }
}

export interface FirstGroupsDeps extends GroupCreation {
  readonly queues: Pick<QueueBook, 'create'>
  readonly owner: GroupOwner
  readonly log: Log
}

/** The project of this name. Throws when there is none. */
export async function ownerNamed(db: Db, organization: string, project: string | undefined): Promise<GroupOwner> {
  const row = await db
    .selectFrom('projects')
    .innerJoin('organizations', 'organizations.id', 'projects.organization_id')
    .select(['projects.id', 'projects.organization_id'])
    .where('organizations.name', '=', organization)
    .where('projects.name', '=', project ?? '')
    .executeTakeFirst()
  if (!row) throw new Error(`the organization ${organization} has no project for container groups`)
  return { organizationId: row.organization_id, projectId: row.id }
}

/** Creates what is not there yet. What is there is left alone, for its owner may have changed it since. */
export async function createFirstGroups({ file, queues, groups }: FirstGroups, deps: FirstGroupsDeps): Promise<void> {
  const { db, owner, log } = deps
  const { projectId } = owner
  for (const queue of queues) {
    const there = db
      .selectFrom('queues')
      .select('id')
      .where('project_id', '=', projectId)
      .where('name', '=', queue.name)
    if (await there.executeTakeFirst()) log.info({ file, queue: queue.name }, 'a queue is there and left as it is')
    else await deps.queues.create(projectId, queue).catch(unlessTaken)
  }
  for (const group of groups) {
    const there = selectGroups(db)
      .where('container_groups.project_id', '=', projectId)
      .where('container_groups.name', '=', group.name)
      .where('container_groups.deleted', '=', false)
    if (await there.executeTakeFirst())
      log.info({ file, group: group.name }, 'a container group is there and left as it is')
    else
      await createGroup(deps, owner, group).catch((cause: unknown) => {
        if (isTaken(cause)) return
        throw new Error(`${file}: the container group ${group.name}: ${messageOf(cause)}`, { cause })
      })
  }
}

/** Another platform that starts at the same moment was first. */
const isTaken = (error: unknown): boolean => error instanceof PlatformError && error.facts.slug === 'name_conflict'

const unlessTaken = (error: unknown): void => {
  if (!isTaken(error)) throw error
}

/** A value in a file, and the path by which it is found there. */
interface Part {
  readonly member: string
  readonly value: unknown
}

async function readParts(
  file: string,
): Promise<{ readonly queues: readonly Part[]; readonly groups: readonly Part[] }> {
  const content = await readFile(file, 'utf8')
  let whole: unknown
  try {
    whole = JSON.parse(content)
  } catch (cause) {
    throw new Error(`${file} is not valid JSON: ${messageOf(cause)}`, { cause })
  }
  if (Array.isArray(whole)) return { queues: [], groups: partsOf(file, '', whole) }
  if (typeof whole !== 'object' || whole === null || !('groups' in whole || 'queues' in whole))
    return { queues: [], groups: [{ member: '', value: whole }] }
  const { queues = [], groups = [] } = whole as { readonly queues?: unknown; readonly groups?: unknown }
  return { queues: partsOf(file, 'queues', queues), groups: partsOf(file, 'groups', groups) }
}

function partsOf(file: string, member: string, list: unknown): readonly Part[] {
  if (!Array.isArray(list)) throw new Error(`${file}: ${member}: must be a list`)
  return list.map((value: unknown, i) => ({ member: member === '' ? `${i}` : `${member}.${i}`, value }))
}

/** Whatever `read` says is wrong, with the file and the path before it. */
function named<T>(file: string, member: string, read: () => T): T {
  try {
    return read()
  } catch (cause) {
    if (!(cause instanceof PlatformError) || !cause.facts.errors) throw cause
    const faults = Object.entries(cause.facts.errors).flatMap(([inner, reasons]) => {
      const path = [member, inner].filter((each) => each !== '' && each !== 'body').join('.')
      return reasons.map((reason) => `  ${path === '' ? 'the whole' : path}: ${reason}`)
    })
    throw new Error(`the container groups in ${file} are not valid:\n${faults.join('\n')}`, { cause })
  }
}
