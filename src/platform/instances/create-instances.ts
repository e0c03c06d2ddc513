import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '../base/errors.ts'
import type { ImdsInstance } from '../imds/instance.ts'
import { createAutoscaling } from './autoscaling.ts'
import type { Context, InstancesDeps } from './context.ts'
import { selectGroups } from './group-record.ts'
import { createImdsInstance } from './imds-instance.ts'
import { createInstanceActions, type InstanceActions } from './instance-actions.ts'
import { createNodes } from './nodes.ts'
import { HOST } from './probe-check.ts'
import { reconcile } from './reconcile.ts'
import type { Run } from './run.ts'
import { createScheduledScaling } from './scheduled-scaling.ts'
import { withRecords } from './with-records.ts'

/** Where a ready instance takes requests. */
export interface Target {
  readonly instanceId: string
  readonly host: string
  readonly port: number
}

/** All instances of all container groups. */
export interface Instances {
  readonly actions: InstanceActions
  /** Ends what an earlier process left, and keeps every group as its owner wants it from now on. */
  open(): Promise<void>
  /** Ends all containers; the groups stay as they are, and are brought back by the next `open`. */
  close(): Promise<void>
  /** Is told of a group whose record has changed, and looks at it soon; other changes are seen with the next tick. */
  changed(groupId: string): void
  /** Instances that run and are ready, oldest start first. */
  targetsOf(groupId: string): readonly Target[]
  imdsInstance(instanceId: string): ImdsInstance
  /** The instance whose container has this address; undefined where containers have none of their own. */
  instanceAt(address: string): string | undefined
}

export function createInstances(deps: InstancesDeps): Instances {
  const { db, log, settings } = deps
  const runs = new Map<string, Run>()
  const waiting = new Set<string>()
  const closing = new AbortController()
  let turns: Promise<void> = Promise.resolve()
  let ticking: Promise<void> = Promise.resolve()

  const away = {
    pauseMs: settings.tickMs,
    end: closing.signal,
    onAway: (error: unknown) =>
      log.warn({ reason: messageOf(error) }, 'the records are away: instances stay as they are'),
  }
  const inTurn = (act: () => Promise<void>): void => {
    turns = turns
      .then(() => withRecords(db, act, away))
      .catch((err) => {
        if (!closing.signal.aborted) log.error({ err }, 'a container group could not be looked after')
      })
  }
  const isHere = (): boolean => !closing.signal.aborted && (deps.isKeeper?.() ?? true)
  const changed = (groupId: string): void => {
    if (!isHere() || waiting.has(groupId)) return
    waiting.add(groupId)
    inTurn(() => {
      waiting.delete(groupId)
      return isHere() ? reconcile(context, groupId) : Promise.resolve()
    })
  }
  const context: Context = {
    ...deps,
    nodes: createNodes(settings.nodes),
    runs,
    failures: new Map(),
    preparing: new Set(),
    inTurn,
    changed,
  }
  const actions = createInstanceActions(context)
  const scaleOnSchedule = createScheduledScaling(context)
  const scaleWithQueue = createAutoscaling(context)

  const tick = async (): Promise<void> => {
    if (!isHere()) return
    const groups = await selectGroups(db)
      .where(({ eb, or }) =>
        or([
          eb('status', 'in', ['pending', 'deploying', 'running']),
          eb('pending_change', '=', true),
          eb('deleted', '=', true),
        ]),
      )
      .execute()
    for (const group of groups) {
      await scaleOnSchedule(group)
      await scaleWithQueue(group)
      changed(group.id)
    }
  }
  const keepTicking = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      await withRecords(db, tick, away).catch((err) => {
        if (!closing.signal.aborted) log.error({ err }, 'container groups could not be looked after')
      })
      await sleep(settings.tickMs, undefined, { signal: closing.signal }).catch(() => undefined) // only close() rejects it
    }
  }

  return {
    actions,
    async open() {
      await deps.launcher.sweep()
      // Nobody knows whether these were started; those that ran are missed by the first look.
      await db.deleteFrom('instances').where('state', 'in', ['downloading', 'creating']).execute()
      // Until then nobody is to be sent there: that would cost jobs their attempts.
      await db.updateTable('instances').set({ started: false, ready: false, port: null }).execute()
      ticking = keepTicking()
    },
    async close() {
      closing.abort()
      await ticking
      await turns
      await Promise.all([...runs.values()].map((run) => run.stop()))
      await turns
      await deps.launcher.sweep().catch((err) => log.warn({ err }, 'what containers left is still there'))
    },
    changed,
    targetsOf: (groupId) =>
      [...runs.values()].flatMap(({ instanceId, groupId: of, health, stopping, port }) =>
        of === groupId && health.ready && !stopping && port !== undefined ? [{ instanceId, host: HOST, port }] : [],
      ),
    imdsInstance: (id) =>
      createImdsInstance(db, actions, id, () => [...runs.values()].find((run) => run.instanceId === id)?.health),
    instanceAt: (address) => [...runs.values()].find((run) => run.address === address)?.instanceId,
  }
}
