import type { ContainerInput } from '../../contracts/platform/container.ts'

/** One start of a container. */
export interface StartOrder {
  /** The simulated node; containers of one node share a folder, one after another. */
  readonly machineId: string
  /** Whether that folder is emptied first. */
  readonly fresh: boolean
  readonly container: ContainerInput
  /** Those of the container that are to be reached from this machine. */
  readonly ports: readonly number[]
  /** What the container is told beyond what its owner wrote; it wins. */
  readonly environment: Readonly<Record<string, string>>
  /** Each line that the application prints, without its end. */
  readonly onLine: (line: string) => void
}

/** A container that was started; it may have ended meanwhile. */
export interface RunningContainer {
  /** Where a port of the container is reached on this machine; undefined where none was asked for. */
  portOf(port: number): number | undefined
  /** Its own address, where it is seen by this machine under it and can be reached there. */
  readonly address?: string | undefined
  /** Resolves with its exit code: 128 and the signal's number where a signal ended it. */
  readonly ended: Promise<number>
  /** Asks it to end, and makes it end after `graceMs`. Resolves when it has ended. */
  stop(graceMs: number): Promise<void>
  /** Runs a command beside it and resolves with the exit code. */
  exec(command: readonly string[], signal: AbortSignal): Promise<number>
}

/** What is known of an image once it is ready; nothing where images are not fetched. */
export interface PreparedImage {
  /** Algorithm and digest, e.g. `sha256:` and 64 hexadecimal digits. */
  readonly hash?: string
  /** Bytes of its compressed layers, where all of them were fetched. */
  readonly size?: number
}

/** What starts containers. */
export interface Launcher {
  /** Gets an image ready. Throws `ImageUnavailable`. */
  prepare(container: ContainerInput): Promise<PreparedImage>
  start(order: StartOrder): Promise<RunningContainer>
  /** Is told that nothing will start again with what the node's last container left. */
  leave(machineId: string): Promise<void>
  /** Ends what an earlier process of the platform left running. */
  sweep(): Promise<void>
}

/** Why an image cannot run here; its message is shown to the group's owner. */
export class ImageUnavailable extends Error {
  override readonly name = 'ImageUnavailable'
}
