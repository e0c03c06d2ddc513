import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import type { Log } from '../../common/log.ts'
import { messageOf } from '../base/errors.ts'
import { type DockerEngine, EngineRefused, NOT_FOUND } from './docker-engine.ts'
import { execIn } from './docker-exec.ts'
import { readFrames } from './docker-frames.ts'
import type { RunningContainer } from './launcher.ts'

/** Between two questions to an engine that is away. */
const AGAIN_MS = 1000
/** The last lines of a container have so long to arrive after its end. */
const LAST_LINES_MS = 2000
/** Of a container that was taken away, or whose engine was: as if it had been killed. */
const LOST = 137

const exitSchema = z.object({ StatusCode: z.number() })
const stateSchema = z.object({
  NetworkSettings: z.object({
    Ports: z.record(z.string(), z.array(z.object({ HostPort: z.string() })).nullable()).nullish(),
    Networks: z.record(z.string(), z.object({ IPAddress: z.string().optional() })).nullish(),
  }),
})

export interface FollowOptions {
  readonly engine: DockerEngine
  readonly id: string
  readonly hasAddresses: boolean
  readonly onLine: (line: string) => void
  readonly log: Log
}

/** Starts a container that has been created, and reads along from its first line to its exit code. */
export async function followContainer(options: FollowOptions): Promise<RunningContainer> {
  const { engine, id, hasAddresses, onLine, log } = options
  const path = `/containers/${id}`
  const lost = new AbortController()
  const { signal } = lost
  const wait = async (condition: 'next-exit' | 'not-running') => {
    const answer = await engine.open(`POST ${path}/wait`, { query: { condition }, signal })
    return { code: text(answer).then((body) => exitSchema.parse(JSON.parse(body)).StatusCode) }
  }
  let lines: Promise<void>
  let exit: Awaited<ReturnType<typeof wait>>
  let network: z.infer<typeof stateSchema>['NetworkSettings']
  try {
    // Both before it starts, so that neither its first words nor its end are missed.
    const output = await engine.open(`POST ${path}/attach`, {
      ...{ query: { stream: '1', stdout: '1', stderr: '1' }, signal },
    })
    lines = readFrames(output, onLine).catch((error: unknown) =>
      log.debug({ container: id, reason: messageOf(error) }, 'the output of a container was cut'),
    )
    exit = await wait('next-exit')
    exit.code.catch(() => undefined) // whoever needs it is told
    await engine.tell(`POST ${path}/start`)
    network = (await engine.ask(stateSchema, `GET ${path}/json`)).NetworkSettings
  } catch (error) {
    lost.abort()
    throw error
  }
  const exitCode = async (): Promise<number> => {
    for (let code = exit.code; ; code = wait('not-running').then((again) => again.code)) {
      try {
        return await code
      } catch (error) {
        if (error instanceof EngineRefused && error.status === NOT_FOUND) return LOST
        log.debug({ container: id, reason: messageOf(error) }, 'Docker is asked again how a container ended')
        await sleep(AGAIN_MS, undefined, { signal }).catch(() => undefined) // see the next line
        if (signal.aborted) return LOST
      }
    }
  }
  const ended = exitCode().then(async (code) => {
    await Promise.race([lines, sleep(LAST_LINES_MS, undefined, { ref: false })])
    return code
  })
  return {
    portOf: (port) => Number(network.Ports?.[`${port}/tcp`]?.[0]?.HostPort) || undefined,
    address: hasAddresses ? Object.values(network.Networks ?? {})[0]?.IPAddress || undefined : undefined,
    ended,
    async stop(graceMs) {
      try {
        await engine.tell(`POST ${path}/stop`, { query: { t: `${Math.ceil(graceMs / 1000)}` } })
      } catch (error) {
        // It is gone, or nobody can say how it is; what is left of it is swept away at the next start.
        log.warn({ container: id, reason: messageOf(error) }, 'a container could not be stopped')
        lost.abort()
      }
      await ended
    },
    exec: (command, signal) => execIn(engine, id, command, signal),
  }
}
