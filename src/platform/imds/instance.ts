import type { ImdsStatus } from '../../contracts/platform/imds.ts'

/** Who an instance is: what its identity token says of it (platform reference, section 21). */
export interface InstanceIdentity {
  readonly machine_id: string
  readonly workload_id: string
  readonly workload_name: string
  readonly organization_id: string
  readonly organization_name: string
}

/** All that the metadata service tells of an instance, read at one moment. */
export interface InstanceView {
  readonly identity: InstanceIdentity
  /** Results of its probes (section 18). */
  readonly status: ImdsStatus
  /** The full int32 value. */
  readonly deletion_cost: number
}

/** The one instance that a listener of the metadata service stands for. */
export interface ImdsInstance {
  /** Resolves with `undefined` once there is no such instance; one that is stopping is still there. */
  view(): Promise<InstanceView | undefined>
  setDeletionCost(cost: number): Promise<void>
  /** A new container on the same node; without effect, like the two below, on an instance that is stopping or gone. */
  recreate(): Promise<void>
  /** The same container again, on the same node. */
  restart(): Promise<void>
  /** Moves to another node; `reason` is reported with the one it leaves. */
  reallocate(reason: string): Promise<void>
}
