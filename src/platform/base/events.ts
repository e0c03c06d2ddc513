import type { Db } from './database.ts'
import type { EventResources } from './tables.ts'

/** What happened to a queue, a group or an instance (platform reference, section 25.2). */
export interface SystemEvent {
  readonly organizationId: string
  readonly type: 'deployment_controller' | 'instance_controller'
  /** One of the names of that section, e.g. "Instance Running". */
  readonly name: string
  /** A warning for interruptions and errors; otherwise `info`. */
  readonly severity?: 'info' | 'warning'
  /** Whose event it is: project_name, container_group_name, container_group_version, instance_id, machine_id. */
  readonly labels: Readonly<Record<string, string>>
  /** For system logs: what the group asked for when it happened. */
  readonly resources?: EventResources
  /** Epoch milliseconds. */
  readonly time: number
}

/** Writes an event among the log entries of its organization. */
export async function logEvent(db: Db, event: SystemEvent): Promise<void> {
  const { resources } = event
  const time = new Date(event.time)
  await db
    .insertInto('log_entries')
    .values({
      organization_id: event.organizationId,
      time,
      receive_time: time,
      severity: event.severity ?? 'info',
      resource_type: event.type,
      labels: JSON.stringify(event.labels),
      text_log: event.name,
      json_log: null,
      resources: resources === undefined ? null : JSON.stringify(resources),
    })
    .execute()
}
