import type { GroupRecord, InstanceRecord } from './group-record.ts'

/** The variables by which a container knows that it runs on the platform, and as what (platform reference, section 25.1). */
export function environmentOf(group: GroupRecord, instance: InstanceRecord, imds: string): Record<string, string> {
  const { HOSTNAME = instance.id } = group.definition.container.environment_variables
  return {
    HOSTNAME,
    INSTANCE_ID: instance.id,
    INSTANCE_MACHINE_ID: instance.machine_id,
    INSTANCE_METADATA_URI: imds,
    WORKLOAD_ID: group.id,
    WORKLOAD_NAME: group.name,
    WORKLOAD_PROJECT_ID: group.project_id,
    WORKLOAD_PROJECT_NAME: group.project_name,
    WORKLOAD_ORGANIZATION_ID: group.organization_id,
    WORKLOAD_ORGANIZATION_NAME: group.organization_name,
  }
}
