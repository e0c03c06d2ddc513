import { z } from 'zod'
import type { DockerEngine } from './docker-engine.ts'
import { readFrames } from './docker-frames.ts'

const createdSchema = z.object({ Id: z.string() })
const endSchema = z.object({ ExitCode: z.number().nullable() })

/** Runs a command in a running container. Docker has no way to end it early: an abort only stops the wait for it. */
export async function execIn(
  engine: DockerEngine,
  containerId: string,
  command: readonly string[],
  signal: AbortSignal,
): Promise<number> {
  const body = { Cmd: command, AttachStdout: true, AttachStderr: true }
  const { Id } = await engine.ask(createdSchema, `POST /containers/${containerId}/exec`, { body, signal })
  const output = await engine.open(`POST /exec/${Id}/start`, { body: { Detach: false, Tty: false }, signal })
  await readFrames(output, () => undefined) // it ends with the command
  const { ExitCode } = await engine.ask(endSchema, `GET /exec/${Id}/json`, { signal })
  if (ExitCode === null) throw new Error('Docker does not say how a command ended')
  return ExitCode
}
