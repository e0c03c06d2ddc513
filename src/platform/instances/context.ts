import type { Log } from '../../common/log.ts'
import type { GroupDefinition } from '../../contracts/platform/container-group.ts'
import type { Db } from '../base/database.ts'
import type { Launcher } from './launcher.ts'
import type { Nodes } from './nodes.ts'
import type { Run } from './run.ts'
import type { InstanceSettings } from './settings.ts'

/** What a queue autoscaler is asked about. */
export interface AutoscaledGroup {
  readonly id: string
  readonly queueId: string
  readonly replicas: number
  readonly autoscaler: NonNullable<GroupDefinition['queue_autoscaler']>
  /** By earlier answers within the last 60 s. */
  readonly added: number
  readonly removed: number
}

/** What instances are kept with. */
export interface InstancesDeps {
  readonly db: Db
  /** Epoch milliseconds. */
  readonly now: () => number
  readonly log: Log
  readonly settings: InstanceSettings
  readonly launcher: Launcher
  /** Starts the metadata service of one instance and resolves with its address. */
  readonly imdsFor: (instance: { readonly id: string; readonly machine_id: string }) => Promise<string>
  /** Is told that an instance is gone, so that its metadata service can end. */
  readonly imdsGone?: (instance: { readonly id: string }) => void
  /** Whether groups are to be looked after here, beyond doubt: another platform may. Always, if not given. */
  readonly isKeeper?: () => boolean
  /** The number of replicas that a group with a queue_autoscaler should have now. */
  readonly desiredReplicas: (group: AutoscaledGroup) => Promise<number>
}

/** What the parts of this room share. */
export interface Context extends InstancesDeps {
  readonly nodes: Nodes
  /** Containers that were started here and have not ended, by machine id. */
  readonly runs: Map<string, Run>
  /** Exits in a row with another code than 0, by machine id. */
  readonly failures: Map<string, number>
  /** Groups whose image is being prepared. */
  readonly preparing: Set<string>
  /** Runs `act` when all that was given before has run; a failure is logged. */
  inTurn(act: () => Promise<void>): void
  /** Brings the group's instances closer to what they should be, soon. */
  changed(groupId: string): void
}
