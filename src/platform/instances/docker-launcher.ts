import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import type { Log } from '../../common/log.ts'
import { messageOf } from '../base/errors.ts'
import { containerBody, type OptionalPart, optionalParts } from './docker-container.ts'
import { type DockerEngine, EngineRefused, NOT_FOUND } from './docker-engine.ts'
import { pullImage } from './docker-image.ts'
import { followContainer } from './docker-run.ts'
import type { EcrOptions } from './ecr-login.ts'
import type { Launcher, RunningContainer, StartOrder } from './launcher.ts'

/** What is left of an earlier process of the platform gets so long to end by itself, in seconds. */
const LEFTOVER_GRACE_S = 2

/** Between two tries to reach an engine that is away, and how many there are: no container ended, so no node is to blame. */
const AGAIN_MS = 1000
const AWAY_TRIES = 30

const createdSchema = z.object({ Id: z.string() })

export interface DockerLauncherOptions {
  readonly engine: DockerEngine
  /** By which its containers are told from those of other platforms on the same engine. */
  readonly platformId: string
  /** CPUs of the engine. */
  readonly cpus: number
  /** Whether this machine reaches containers, and sees them, under addresses of their own. */
  readonly hasAddresses: boolean
  /** How Amazon's registries are logged in to. */
  readonly ecr: EcrOptions
  readonly log: Log
}

/**
 * Runs each container in a Docker Engine on this machine; their ports are mapped to free ones of 127.0.0.1. A container that
 * starts again without being fresh is the same one for Docker, with the environment of its first start, which cannot change.
 */
export function createDockerLauncher(options: DockerLauncherOptions): Launcher {
  const { engine, platformId, cpus, hasAddresses, ecr, log } = options
  const labels = { 'easel.platform': platformId }
  /** By machine id. */
  const containers = new Map<string, string>()
  const without = new Set<OptionalPart>()

  const create = async (order: StartOrder): Promise<string> => {
    const { WORKLOAD_NAME, INSTANCE_ID } = order.environment
    const { Id } = await engine.ask(createdSchema, 'POST /containers/create', {
      query: WORKLOAD_NAME && INSTANCE_ID ? { name: `${WORKLOAD_NAME}-${INSTANCE_ID}` } : {},
      body: containerBody(order, { labels, cpus, without }),
    })
    containers.set(order.machineId, Id)
    return Id
  }
  const leave = async (machineId: string): Promise<void> => {
    const id = containers.get(machineId)
    if (id === undefined) return
    await remove(engine, id)
    containers.delete(machineId)
  }
  const start = async (order: StartOrder, patience: number): Promise<RunningContainer> => {
    const { machineId, fresh, onLine } = order
    const tried = new Set(without) // another start may be refused meanwhile
    try {
      if (fresh) await leave(machineId)
      const id = containers.get(machineId) ?? (await create(order))
      return await followContainer({ engine, id, hasAddresses, onLine, log })
    } catch (error) {
      if (!(error instanceof EngineRefused)) {
        if (patience === 0) throw error
        await sleep(AGAIN_MS)
        return start(order, patience - 1)
      }
      await leave(machineId)
      const { message } = error
      const lost = optionalParts.find(({ part, refusal }) => !tried.has(part) && refusal.test(message))
      if (!lost) {
        onLine(message) // whoever reads the group's output can do something about it
        throw error
      }
      if (!without.has(lost.part)) log.warn({ reason: message }, lost.loss)
      without.add(lost.part)
      return start(order, patience)
    }
  }

  return {
    prepare: (container) => pullImage({ engine, ecr, log }, container),
    start: (order) => start(order, AWAY_TRIES),
    leave,
    async sweep() {
      containers.clear()
      const filters = JSON.stringify({ label: [`easel.platform=${platformId}`] })
      const left = await engine.ask(z.array(createdSchema), 'GET /containers/json', { query: { all: '1', filters } })
      await Promise.all(
        left.map(async ({ Id }) => {
          await engine
            .tell(`POST /containers/${Id}/stop`, { query: { t: `${LEFTOVER_GRACE_S}` } })
            .catch((error: unknown) => log.debug({ reason: messageOf(error) }, 'a container is removed as it is'))
          await remove(engine, Id)
        }),
      )
    },
  }
}

/** With its file system and its anonymous volumes. */
async function remove(engine: DockerEngine, id: string): Promise<void> {
  try {
    await engine.tell(`DELETE /containers/${id}`, { query: { force: '1', v: '1' } })
  } catch (error) {
    if (!(error instanceof EngineRefused) || error.status !== NOT_FOUND) throw error
  }
}
