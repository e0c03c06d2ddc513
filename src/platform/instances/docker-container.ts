import type { StartOrder } from './launcher.ts'

const MEBIBYTE = 2 ** 20

/** What the engine may not be able to give; containers do without it then, for one machine is not a data centre. */
export const optionalParts = [
  { part: 'StorageOpt', refusal: /storage-opt|storage opt/i, loss: 'storage_amount does not limit containers here' },
  { part: 'DeviceRequests', refusal: /device driver|nvidia|cdi/i, loss: 'containers have no GPU here' },
] as const

export type OptionalPart = (typeof optionalParts)[number]['part']

export interface ContainerOptions {
  /** By which containers of this platform are found again. */
  readonly labels: Readonly<Record<string, string>>
  /** CPUs of the engine: it refuses containers that are to have more. */
  readonly cpus: number
  /** What this engine has refused. */
  readonly without: ReadonlySet<OptionalPart>
}

/** The body by which the engine creates a container (Docker Engine API, ContainerCreate). */
export function containerBody(order: StartOrder, { labels, cpus, without }: ContainerOptions) {
  const { container, environment, ports, machineId } = order
  const { cpu, memory, shm_size, storage_amount, gpu_classes } = container.resources
  const { HOSTNAME } = environment
  const variables = { ...container.environment_variables, ...environment }
  const names = ports.map((port) => `${port}/tcp`)
  return {
    Image: container.image,
    ...(container.command.length > 0 && { Cmd: container.command }),
    ...(HOSTNAME !== undefined && isHostName(HOSTNAME) && { Hostname: HOSTNAME }),
    Env: Object.entries(variables).map(([name, value]) => `${name}=${value}`),
    Labels: { ...labels, 'easel.machine': machineId },
    StopSignal: 'SIGTERM',
    ExposedPorts: Object.fromEntries(names.map((name) => [name, {}])),
    HostConfig: {
      Memory: memory * MEBIBYTE,
      NanoCpus: Math.min(cpu, cpus) * 1e9,
      ShmSize: shm_size * MEBIBYTE,
      ...(!without.has('StorageOpt') && { StorageOpt: { size: `${storage_amount}` } }),
      ...(gpu_classes.length > 0 &&
        !without.has('DeviceRequests') && {
          DeviceRequests: [{ Driver: 'nvidia', Count: -1, Capabilities: [['gpu']] }],
        }),
      PortBindings: Object.fromEntries(names.map((name) => [name, [{ HostIp: '127.0.0.1', HostPort: '' }]])),
      ExtraHosts: ['host.docker.internal:host-gateway'],
    },
  }
}

const isHostName = (name: string): boolean => /^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$/i.test(name)
