import type { ContainerInput } from '../../contracts/platform/container.ts'

/** One start of a container. */
export interface StartOrder {
  /** The simulated node; containers of one node share a folder, one after another. */
  readonly machineId: string
  /** Whether that folder is emptied first. */
  readonly fresh: boolean
  readonly container: ContainerInput
  /** What the container is told beyond what its owner wrote; it wins. */
  readonly environment: Readonly<Record<string, string>>
  /** Each line that the application prints, without its end. */
  readonly onLine: (line: string) => void
}

/** A container that was started; it may have ended meanwhile. */
export interface RunningContainer {
  /** Where its application listens on this machine, whatever port its owner gave it. */
  readonly port: number
  /** Resolves with its exit code: 128 and the signal's number where a signal ended it. */
  readonly ended: Promise<number>
  /** Asks it to end, and makes it end after `graceMs`. Resolves when it has ended. */
  stop(graceMs: number): Promise<void>
  /** Runs a command beside it and resolves with the exit code. */
  exec(command: readonly string[], signal: AbortSignal): Promise<number>
}

/** What starts containers. */
export interface Launcher {
  /** Gets an image ready. Throws `ImageUnavailable`. */
  prepare(container: ContainerInput): Promise<void>
  start(order: StartOrder): Promise<RunningContainer>
  /** Ends what an earlier process of the platform left running. */
  sweep(): Promise<void>
}

/** Why an image cannot run here; its message is shown to the group's owner. */
export class ImageUnavailable extends Error {
  override readonly name = 'ImageUnavailable'
}
