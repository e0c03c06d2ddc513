import type { Keeper } from '../base/keeper.ts'
import type { InstancesDeps } from '../instances/context.ts'
import type { Instances } from '../instances/create-instances.ts'
import { createImdsInstance } from '../instances/imds-instance.ts'
import { createInstanceActions } from '../instances/instance-actions.ts'
import type { QueueWorkers } from './queue-workers.ts'

/** What the keeper of the instances has, and another platform has not. */
export interface Tenure {
  readonly instances: Instances
  readonly workers: QueueWorkers
}

export interface KeepingOptions extends Pick<InstancesDeps, 'db' | 'now' | 'log' | 'settings'> {
  readonly keeper: Keeper
  /** Makes what is needed to keep instances, each time that this platform becomes their keeper. */
  readonly begin: () => Tenure
}

/**
 * The instances of all groups where several platforms may share the records: only their keeper has containers, and requests
 * for them lead to nothing elsewhere. What is asked for is noted in the records by any of them, and done by the keeper.
 */
export function createKeeping({ db, now, log, settings, keeper, begin }: KeepingOptions): Instances {
  let tenure: Tenure | undefined
  const changed = (groupId: string): void => tenure?.instances.changed(groupId)
  const actions = createInstanceActions({ db, now, log, settings, changed })

  async function end(): Promise<void> {
    const ending = tenure
    tenure = undefined
    // At once: what ends with an instance ends its worker's job too.
    await Promise.all([ending?.workers.close(), ending?.instances.close()])
  }
  return {
    actions,
    open: () =>
      keeper.open({
        async won() {
          const beginning = begin()
          await beginning.instances.open()
          beginning.workers.open()
          tenure = beginning
        },
        lost: end,
      }),
    async close() {
      await end()
      await keeper.close()
    },
    changed,
    targetsOf: (groupId) => tenure?.instances.targetsOf(groupId) ?? [],
    imdsInstance: (id) => tenure?.instances.imdsInstance(id) ?? createImdsInstance(db, actions, id),
    instanceAt: (address) => tenure?.instances.instanceAt(address),
  }
}
