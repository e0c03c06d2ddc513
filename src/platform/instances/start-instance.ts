import { appendOutput } from './append-output.ts'
import type { Context } from './context.ts'
import { environmentOf } from './environment.ts'
import { findGroup, type GroupRecord, type InstanceRecord, labelsOf, logGroupEvent } from './group-record.ts'
import { handleEnd } from './handle-end.ts'
import { leaveNode } from './instance-moves.ts'
import { portsOf } from './probe-check.ts'
import { type Run, startRun } from './run.ts'

/** Starts the container of an instance whose node has none, and keeps the records in step with what becomes of it. */
export function startInstance(context: Context, group: GroupRecord, instance: InstanceRecord): void {
  const { db, now, log, settings, launcher, imdsFor, runs, inTurn, changed } = context
  const output = appendOutput({ db, now, log }, group.organization_id, labelsOf(group, instance))
  const start = async () =>
    launcher.start({
      machineId: instance.machine_id,
      fresh: instance.fresh,
      container: group.definition.container,
      ports: portsOf(group.definition),
      environment: environmentOf(group, instance, await imdsFor(instance)),
      onLine: output.add,
    })
  inTurn(() => logGroupEvent(db, group, now(), 'Instance Starting', { instance }))
  const run = startRun({
    instanceId: instance.id,
    groupId: group.id,
    machineId: instance.machine_id,
    definition: group.definition,
    graceMs: settings.graceMs,
    start,
    onRunning: (run) =>
      inTurn(async () => {
        await recordRunning(context, group, instance, run)
        changed(group.id)
      }),
    onHealth: (run, before) => {
      const { health } = run // as it is now: it may have changed again when its turn comes
      inTurn(async () => {
        if (!(await recordHealth(context, run, health))) return
        const tell = (name: string) => logGroupEvent(db, group, now(), name, { instance })
        if (health.started && !before.started) await tell('Instance Startup Probe Passed')
        if (health.ready === before.ready || !group.definition.readiness_probe) return
        await tell(
          `Instance ${health.ready ? 'Ready (Readiness Probe Passed)' : 'Not Ready (Readiness Probe Failure)'}`,
        )
      })
    },
    onUnhealthy: (_run, probe) =>
      inTurn(async () => {
        const current = await findGroup(db, group.id)
        if (!current) return
        const event = `Instance Interrupted (${probe} Probe Failure)`
        await leaveNode(context, current, instance, { event, severity: 'warning', reason: event })
        changed(group.id)
      }),
    onEnded: (run, outcome) =>
      inTurn(async () => {
        runs.delete(run.machineId)
        context.imdsGone?.(instance)
        await output.flush()
        if ('error' in outcome) log.error({ instance: instance.id, err: outcome.error }, 'a container did not start')
        await handleEnd(context, run, 'code' in outcome ? outcome.code : CANNOT_START)
      }),
  })
  runs.set(instance.machine_id, run)
}

/** What container engines answer for a container that they could not start. */
const CANNOT_START = 125

async function recordRunning({ db, now }: Context, group: GroupRecord, instance: InstanceRecord, run: Run) {
  const time = now()
  const { queue_connection: queue, networking } = group.definition
  const port = run.portOf(queue?.port ?? networking?.port ?? 0) ?? null
  const { numUpdatedRows } = await db
    .updateTable('instances')
    .set({ ...run.health, state: 'running', fresh: false, port, update_time: new Date(time) })
    .where('id', '=', instance.id)
    .where('state', '=', 'creating')
    .executeTakeFirstOrThrow()
  if (numUpdatedRows > 0n) await logGroupEvent(db, group, time, 'Instance Running', { instance })
}

async function recordHealth({ db }: Context, { instanceId }: Run, health: Run['health']): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('instances')
    .set({ ...health })
    .where('id', '=', instanceId)
    .where('state', '=', 'running')
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}
