import { z } from 'zod'
import { listen } from '../base/listen.ts'
import { type DockerEngine, EngineRefused } from './docker-engine.ts'

const infoSchema = z.object({ NCPU: z.number(), ServerVersion: z.string() })
const networkSchema = z.object({
  IPAM: z.object({ Config: z.array(z.object({ Gateway: z.string().optional() })).nullish() }),
})

/** What containers on an engine depend on. */
export interface EngineFacts {
  readonly cpus: number
  readonly version: string
  /**
   * This machine's address in the engine's usual network, where it reaches containers, and sees them, under addresses of
   * their own; undefined where the engine lives in another machine.
   */
  readonly gateway: string | undefined
}

/** Asks an engine about itself. Throws when it does not answer. */
export async function lookAtEngine(engine: DockerEngine): Promise<EngineFacts> {
  const { NCPU, ServerVersion } = await engine.ask(infoSchema, 'GET /info')
  return { cpus: NCPU, version: ServerVersion, gateway: await ownGateway(engine) }
}

async function ownGateway(engine: DockerEngine): Promise<string | undefined> {
  try {
    const { IPAM } = await engine.ask(networkSchema, 'GET /networks/bridge')
    const gateway = IPAM.Config?.find((each) => each.Gateway !== undefined)?.Gateway
    if (gateway === undefined) return undefined
    // Interfaces that nobody is connected to are not listed, so it is tried.
    const tried = await listen(gateway, 0)
    await tried.close(0)
    return gateway
  } catch (error) {
    if (error instanceof EngineRefused || isNoAddress(error)) return undefined
    throw error
  }
}

const isNoAddress = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'EADDRNOTAVAIL'
