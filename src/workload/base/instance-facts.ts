/** The variables in which a platform tells an instance what it is, as one of its own; with what each is called behind a prefix. */
const variables: Readonly<Record<string, string | undefined>> = {
  HOSTNAME: undefined,
  INSTANCE_ID: 'INSTANCE_ID',
  INSTANCE_MACHINE_ID: 'MACHINE_ID',
  INSTANCE_METADATA_URI: undefined,
  WORKLOAD_ID: 'CONTAINER_GROUP_ID',
  WORKLOAD_NAME: 'CONTAINER_GROUP_NAME',
  WORKLOAD_PROJECT_ID: 'PROJECT_ID',
  WORKLOAD_PROJECT_NAME: 'PROJECT_NAME',
  WORKLOAD_ORGANIZATION_ID: 'ORGANIZATION_ID',
  WORKLOAD_ORGANIZATION_NAME: 'ORGANIZATION_NAME',
}

/**
 * What the environment tells of the instance this server runs in, by the variables' names in lower case. With
 * `PLATFORM_ENV_PREFIX=X` a fact that is missing is taken from the variables of a platform that begin with `X_`. Empty
 * outside of platforms, where a host name alone means nothing.
 */
export function instanceFacts(
  environment: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  const prefix = environment.PLATFORM_ENV_PREFIX
  const facts = Object.entries(variables).flatMap(([name, behindPrefix]) => {
    const foreign = prefix && behindPrefix ? environment[`${prefix}_${behindPrefix}`] : undefined
    const value = environment[name] || foreign
    return value ? [[name.toLowerCase(), value] as const] : []
  })
  return facts.some(([name]) => name !== 'hostname') ? Object.fromEntries(facts) : {}
}
