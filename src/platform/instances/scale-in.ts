import type { InstanceRecord } from './group-record.ts'

/** In the order in which a smaller group loses its instances (platform reference, section 19.3). */
export const inScaleInOrder = (instances: readonly InstanceRecord[]): InstanceRecord[] =>
  [...instances].sort(
    (one, other) =>
      one.deletion_cost - other.deletion_cost ||
      Number(one.state === 'running') - Number(other.state === 'running') ||
      Number(one.ready) - Number(other.ready) ||
      other.create_time.getTime() - one.create_time.getTime(),
  )
