import { randomInt, randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import type { GroupDefinition } from '../../contracts/platform/container-group.ts'
import type { Context } from './context.ts'
import { type GroupRecord, logGroupEvent } from './group-record.ts'
import { changeGroup, deploy, finish } from './group-status.ts'
import { endedAfter, replicasEvent } from './set-replicas.ts'

type Base = Pick<Context, 'db' | 'now'>

export interface NewGroup {
  readonly organizationId: string
  readonly projectId: string
  readonly definition: GroupDefinition
  /** The queue that its queue_connection names. */
  readonly queueId: string | undefined
  /** Ends the host names of groups. */
  readonly gatewayDomain: string
}

/** Writes a new group. Resolves with its id; with undefined when its name is taken. */
export async function insertGroup({ db, now }: Base, group: NewGroup): Promise<string | undefined> {
  const { organizationId, projectId, definition, queueId, gatewayDomain } = group
  const time = new Date(now())
  const row = await db
    .insertInto('container_groups')
    .values({
      id: randomUUID(),
      organization_id: organizationId,
      project_id: projectId,
      name: definition.name,
      definition: JSON.stringify(definition),
      queue_id: queueId ?? null,
      dns: definition.networking ? `${hostLabel(definition.name)}.${gatewayDomain}` : null,
      status: 'pending',
      start_when_prepared: definition.autostart_policy,
      ended_code: null,
      create_time: time,
      update_time: time,
      start_time: time,
      finish_time: time,
    })
    // Written out: a plan for any value would not be one for the index, which holds only these.
    .onConflict((conflict) => conflict.columns(['project_id', 'name']).where(sql<boolean>`not deleted`).doNothing())
    .returning('id')
    .executeTakeFirst()
  return row?.id
}

/** Its name and a few random characters, so that a name used again leads nowhere else. */
function hostLabel(name: string): string {
  const random = Array.from({ length: 8 }, () => randomInt(36).toString(36)).join('')
  return `${name.slice(0, 50).replace(/-+$/, '')}-${random}`
}

/** Gives a group another definition; its version rises when instances must be replaced (platform reference, section 16). */
export async function redefineGroup({ db, now }: Base, group: GroupRecord, definition: GroupDefinition): Promise<void> {
  const before = group.definition
  if (isDeepStrictEqual(before, definition)) return
  const time = now()
  const bumped = !isDeepStrictEqual(replacing(before), replacing(definition))
  const version = group.version + (bumped ? 1 : 0)
  await changeGroup({ db }, group.id, {
    definition: JSON.stringify(definition),
    version,
    preparing: definition.container.image !== before.container.image,
    ended: endedAfter(group, definition.replicas),
    pending_change: true,
    update_time: new Date(time),
  })
  const after = { ...group, version, definition }
  if (bumped) await logGroupEvent(db, after, time, `Container Group Updated (Version ${version})`)
  if (definition.replicas !== before.replicas)
    await logGroupEvent(db, after, time, replicasEvent(before.replicas, definition.replicas))
}

/** What no instance can change while it runs. */
function replacing({ container, networking, liveness_probe, readiness_probe, startup_probe }: GroupDefinition) {
  const { image, command, environment_variables } = container
  return [image, command, environment_variables, networking?.port, liveness_probe, readiness_probe, startup_probe]
}

/** Starts a group that is not pending; one that is up already stays as it is. */
export async function startGroup(base: Base, group: GroupRecord): Promise<void> {
  const { status, id } = group
  if (status === 'stopped' || status === 'succeeded') await deploy(base, group)
  if (status !== 'failed') return
  const again = {
    status: 'pending',
    preparing: true,
    start_when_prepared: true,
    description: '',
    pending_change: true,
  } as const
  await changeGroup(base, id, again)
}

/** Stops a group that is not pending; its instances end soon after. */
export async function stopGroup(base: Base, group: GroupRecord): Promise<void> {
  if (group.status !== 'stopped') await finish(base, group, 'stopped')
}

/** A group is gone at once for all who read, and its name is free; its instances end soon after. */
export const removeGroup = (base: Base, { id }: GroupRecord): Promise<void> => changeGroup(base, id, { deleted: true })
