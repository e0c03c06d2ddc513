import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { Log } from '../../common/log.ts'
import { messageOf } from '../base/errors.ts'
import type { Config } from '../config.ts'
import { createDockerEngine, type DockerEngine } from '../instances/docker-engine.ts'
import { lookAtEngine } from '../instances/docker-facts.ts'
import { createDockerLauncher } from '../instances/docker-launcher.ts'
import { ecrEndpoint } from '../instances/ecr-login.ts'
import { type ImageCommands, readImageCommands } from '../instances/image-commands.ts'
import type { Launcher } from '../instances/launcher.ts'
import { createProcessLauncher } from '../instances/process-launcher.ts'
import type { MetadataHost, MetadataServices } from './metadata-services.ts'

const LOOPBACK = '127.0.0.1'
/** By which a container finds the machine it runs on, wherever its engine lives. */
const HOST_INSIDE = 'host.docker.internal'

type ContainersConfig = Pick<
  Config,
  'dataDir' | 'launcher' | 'dockerHost' | 'imagesFile' | 'containerEnvironment' | 'modelDir'
>

export interface ContainersServices {
  /** Epoch milliseconds. */
  readonly now: () => number
  readonly log: Log
}

/** What runs containers, and where those find their metadata services. */
export interface Containers {
  readonly launcher: Launcher
  readonly metadata: MetadataHost
  /** In words. */
  readonly kind: string
}

/** Makes the launcher that the operator asked for. Throws when that is Docker and no engine answers. */
export async function openContainers(
  config: ContainersConfig,
  bundled: ImageCommands,
  services: ContainersServices,
): Promise<Containers> {
  const { dataDir, launcher, dockerHost, imagesFile, containerEnvironment, modelDir } = config
  if (launcher !== 'process') {
    const { engine, failure } = await findEngine(dockerHost)
    if (engine) return docker(engine, dataDir, services)
    if (launcher === 'docker') throw new Error(`Docker does not answer at ${dockerHost}: ${failure}`)
  }
  const given = imagesFile === undefined ? {} : await readImageCommands(imagesFile)
  const images = { ...given, ...bundled, ...given } // the operator's count first, and instead of ours
  return {
    launcher: createProcessLauncher({
      folder: join(dataDir, 'nodes'),
      images,
      // A workload that kept its files where its program is would share them with all others, and they tidy there.
      environment: { ...containerEnvironment, COMFY_HOME: '.', MODEL_DIR: modelDir },
    }),
    metadata: { address: LOOPBACK, name: LOOPBACK },
    kind: 'processes of this machine',
  }
}

/** The launcher, which gives up a node's metadata service together with what its containers left. */
export const withMetadata = (launcher: Launcher, metadata: Pick<MetadataServices, 'leave'>): Launcher => ({
  ...launcher,
  leave(machineId) {
    metadata.leave(machineId)
    return launcher.leave(machineId)
  },
})

/** The engine that answers at an address, or why there is none. */
async function findEngine(dockerHost: string) {
  const socket = /^unix:\/\/(\/.+)$/.exec(dockerHost)?.[1]
  // The ports of containers are mapped to those of the engine's machine, which must be this one.
  if (socket === undefined) return { failure: 'it must be unix:// and the path of a socket' }
  const engine = createDockerEngine(socket)
  const failure = await engine.tell('GET /_ping').catch((error: unknown) => messageOf(error))
  return failure === undefined ? { engine } : { failure }
}

async function docker(engine: DockerEngine, dataDir: string, { now, log }: ContainersServices): Promise<Containers> {
  const { cpus, version, gateway } = await lookAtEngine(engine)
  const platformId = createHash('sha256').update(`${hostname()}\0${dataDir}`).digest('hex').slice(0, 16)
  const ecr = { now, endpointOf: ecrEndpoint }
  return {
    launcher: createDockerLauncher({ engine, platformId, cpus, hasAddresses: gateway !== undefined, ecr, log }),
    // Where the engine lives in another machine, as Docker Desktop's does, a name leads to this one's loopback.
    metadata: { address: gateway ?? LOOPBACK, name: gateway ?? HOST_INSIDE },
    kind: `containers of Docker ${version}`,
  }
}
