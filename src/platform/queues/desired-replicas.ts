/** How a group follows the length of its queue; without a limit per minute it follows at once. */
export interface QueueAutoscaler {
  readonly desired_queue_length: number
  readonly min_replicas: number
  readonly max_replicas: number
  readonly max_upscale_per_minute?: number | undefined
  readonly max_downscale_per_minute?: number | undefined
}

/** What an evaluation looks at. */
export interface ScalingState {
  /** Pending and running jobs of the connected queue. */
  readonly queueLength: number
  /** What the group has now. */
  readonly replicas: number
  /** Added by the autoscaler within the last 60 s. */
  readonly added: number
  /** Removed by it within the last 60 s. */
  readonly removed: number
}

/** The replicas of a group after one evaluation (platform reference, section 19.1). */
export function desiredReplicas(autoscaler: QueueAutoscaler, { queueLength, replicas, added, removed }: ScalingState) {
  const { desired_queue_length, min_replicas, max_replicas } = autoscaler
  const { max_upscale_per_minute = Number.POSITIVE_INFINITY, max_downscale_per_minute = Number.POSITIVE_INFINITY } =
    autoscaler
  const target = Math.min(max_replicas, Math.max(min_replicas, Math.ceil(queueLength / desired_queue_length)))
  return target >= replicas
    ? Math.min(target, replicas + Math.max(0, max_upscale_per_minute - added))
    : Math.max(target, replicas - Math.max(0, max_downscale_per_minute - removed))
}
