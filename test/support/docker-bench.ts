import { randomUUID } from 'node:crypto'
import { onTestFinished } from 'vitest'
import { silentLog } from '../../src/common/log.ts'
import { type ContainerInput, containerInputSchema } from '../../src/contracts/platform/container.ts'
import { createDockerEngine } from '../../src/platform/instances/docker-engine.ts'
import { createDockerLauncher } from '../../src/platform/instances/docker-launcher.ts'
import type { StartOrder } from '../../src/platform/instances/launcher.ts'
import { type StandInOptions, standInEngine } from './docker-engine.ts'

/** An engine that tests can use, and an image in which it finds Node. */
export interface DockerPlace {
  readonly socketPath: string
  readonly image: string
}

/** The engine and the image that whoever runs the tests names; undefined where nobody does. */
export function realPlace(): DockerPlace | undefined {
  const { DOCKER_HOST, DOCKER_TEST_IMAGE: image } = process.env
  return DOCKER_HOST && image ? { socketPath: DOCKER_HOST.replace('unix://', ''), image } : undefined
}

/** The stand-in with an image that is there. */
export async function standInPlace(options: Partial<StandInOptions> = {}) {
  const image = 'localhost/node:1'
  const local = { [image]: { command: ['node'], layers: [1], isLocal: true } }
  return { ...(await standInEngine({ ...options, images: { ...local, ...options.images } })), image }
}

export interface LauncherWishes {
  readonly platformId?: string
  readonly cpus?: number
  /** In place of Amazon's address. */
  readonly ecr?: string
}

/** A launcher on an engine, whose containers are gone when the test is. */
export function dockerLauncher(
  { socketPath }: Pick<DockerPlace, 'socketPath'>,
  { platformId = randomUUID(), cpus = 2, ecr = 'http://127.0.0.1:9' }: LauncherWishes = {},
) {
  const engine = createDockerEngine(socketPath)
  const launcher = createDockerLauncher({
    engine,
    platformId,
    cpus,
    hasAddresses: true,
    ecr: { now: Date.now, endpointOf: () => ecr },
    log: silentLog,
  })
  onTestFinished(() => launcher.sweep())
  return launcher
}

/** A container as its owner describes it. */
export const containerIn = (image: string, more: Partial<Record<keyof ContainerInput, unknown>> = {}): ContainerInput =>
  containerInputSchema.parse({ image, resources: { cpu: 1, memory: 1024 }, ...more })

/** The start of a container that runs a line of JavaScript; `lines` gets what it prints. */
export const orderOf = (
  { image }: Pick<DockerPlace, 'image'>,
  line: string,
  more: Partial<StartOrder> & { readonly lines?: string[] } = {},
): StartOrder => {
  const { lines, ...order } = more
  return {
    ...{ machineId: randomUUID(), fresh: true, ports: [], environment: {} },
    container: containerIn(image, { command: ['node', '-e', line] }),
    onLine: (text) => void lines?.push(text),
    ...order,
  }
}
