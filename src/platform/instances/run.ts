import type { GroupDefinition } from '../../contracts/platform/container-group.ts'
import type { Probe } from '../../contracts/platform/probe.ts'
import type { Launcher, RunningContainer } from './launcher.ts'
import { checkOnce } from './probe-check.ts'
import { type ProbeResult, watchProbe } from './watch-probe.ts'

/** What an instance says of itself (platform reference, section 18). */
export interface Health {
  readonly started: boolean
  readonly ready: boolean
}

const NOBODY: Health = { started: false, ready: false }

/** One start of a container, from its first moment to its end. */
export interface Run {
  readonly instanceId: string
  readonly groupId: string
  readonly machineId: string
  readonly health: Health
  /** Where requests of the gateway go, once it runs. */
  readonly port: number | undefined
  /** Where a port of the container is reached on this machine, once it runs. */
  portOf(port: number): number | undefined
  /** The container's own address, where it has one. */
  readonly address: string | undefined
  /** Whether it was asked to end. */
  readonly stopping: boolean
  /** Resolves when it has ended. */
  stop(): Promise<void>
}

export interface RunOptions extends Pick<Run, 'instanceId' | 'groupId' | 'machineId'> {
  readonly definition: GroupDefinition
  readonly graceMs: number
  readonly start: () => ReturnType<Launcher['start']>
  readonly onRunning: (run: Run) => void
  readonly onHealth: (run: Run, before: Health) => void
  /** A probe that moves the instance is in failure. */
  readonly onUnhealthy: (run: Run, probe: 'Startup' | 'Liveness') => void
  /** With the exit code, or with what kept it from starting. */
  readonly onEnded: (run: Run, outcome: { readonly code: number } | { readonly error: unknown }) => void
}

/** Starts a container and watches it until it has ended; the callbacks come in the order in which things happened. */
export function startRun(options: RunOptions): Run {
  const { instanceId, groupId, machineId, definition, graceMs, start } = options
  const { startup_probe: startup, readiness_probe: readiness, liveness_probe: liveness } = definition
  const probing = new AbortController()
  let health = NOBODY
  let container: RunningContainer | undefined
  let stopping = false

  const run: Run = {
    instanceId,
    groupId,
    machineId,
    get health() {
      return health
    },
    get port() {
      return container?.portOf(definition.networking?.port ?? 0)
    },
    portOf: (port) => container?.portOf(port),
    get address() {
      return container?.address
    },
    get stopping() {
      return stopping
    },
    async stop() {
      stopping = true
      probing.abort()
      await container?.stop(graceMs)
      await life
    },
  }

  const become = (next: Partial<Health>): void => {
    const before = health
    health = { ...health, ...next }
    options.onHealth(run, before)
  }
  const watch = (probe: Probe, running: RunningContainer, onResult: (result: ProbeResult) => void, stop: AbortSignal) =>
    void watchProbe(probe, (signal) => checkOnce(probe, running, signal), onResult, stop)
  const watchOn = (running: RunningContainer): void => {
    if (liveness)
      watch(liveness, running, (result) => result === 'failure' && options.onUnhealthy(run, 'Liveness'), probing.signal)
    if (readiness) watch(readiness, running, (result) => become({ ready: result === 'success' }), probing.signal)
  }
  const watchStart = (probe: Probe, running: RunningContainer): void => {
    const starting = new AbortController()
    probing.signal.addEventListener('abort', () => starting.abort())
    const onResult = (result: ProbeResult): void => {
      starting.abort() // its result is kept
      if (result === 'success') {
        become({ started: true, ...(!readiness && { ready: true }) })
        watchOn(running)
      } else options.onUnhealthy(run, 'Startup')
    }
    watch(probe, running, onResult, starting.signal)
  }

  const live = async (): Promise<void> => {
    try {
      container = await start()
      health = { started: !startup, ready: !startup && !readiness }
      options.onRunning(run)
      if (stopping) void container.stop(graceMs)
      else if (startup) watchStart(startup, container)
      else watchOn(container)
      const code = await container.ended
      health = NOBODY
      probing.abort()
      options.onEnded(run, { code })
    } catch (error) {
      probing.abort()
      options.onEnded(run, { error })
    }
  }
  const life = live()
  return run
}
