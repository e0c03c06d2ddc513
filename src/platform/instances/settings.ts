/** How instances are kept (platform reference, section 27); times in milliseconds. */
export interface InstanceSettings {
  /** Between the request to end and the end. */
  readonly graceMs: number
  /** Exits in a row with another code than 0 after which an instance moves to another node. */
  readonly exitsBeforeMove: number
  /** For how long an organization stays away from a node that failed it. */
  readonly exclusionMs: number
  /** Between two looks at groups that nobody said anything about; also the pause before a container starts again. */
  readonly tickMs: number
  /** Between two evaluations of a queue_autoscaler that does not say. */
  readonly autoscalerMs: number
  /** Simulated nodes. */
  readonly nodes: number
  /** Replicas of all groups of an organization together. */
  readonly replicaQuota: number
}

export const defaultInstanceSettings: InstanceSettings = {
  graceMs: 30_000,
  exitsBeforeMove: 3,
  exclusionMs: 48 * 3_600_000,
  tickMs: 1000,
  autoscalerMs: 30_000,
  nodes: 1000,
  replicaQuota: 10,
}
