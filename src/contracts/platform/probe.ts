import type { z } from 'zod'
import { integer, list, oneOf, pair, record, text } from './fields.ts'

/** Ports beyond what exists are stored; a probe of one always fails. */
const MOST_PORT = 65_536

const mechanisms = {
  exec: record({ command: list(text(1, 2048), 1, 100) }),
  grpc: record({ port: integer(0, MOST_PORT), service: text(0, 1024).default('') }),
  http: record({
    path: text(1, 2048),
    port: integer(0, MOST_PORT),
    scheme: oneOf(['http', 'https']).default('http'),
    headers: list(pair(text(1, 256), text(1, 1024)), 0, 50).default([]),
  }),
  tcp: record({ port: integer(0, MOST_PORT - 1) }),
}

/** How a probe looks: exactly one of these. */
export const probeMechanisms = Object.keys(mechanisms) as readonly (keyof typeof mechanisms)[]

interface Numbers {
  readonly failures: number
  readonly period: number
  readonly successes: number
  readonly timeout: number
}

const probeWith = ({ failures, period, successes, timeout }: Numbers) =>
  record({
    failure_threshold: integer(1, 20).default(failures),
    initial_delay_seconds: integer(0, 1200).default(0),
    period_seconds: integer(1, 120).default(period),
    success_threshold: integer(1, 10).default(successes),
    timeout_seconds: integer(1, 60).default(timeout),
    exec: mechanisms.exec.optional(),
    grpc: mechanisms.grpc.optional(),
    http: mechanisms.http.optional(),
    tcp: mechanisms.tcp.optional(),
  }).refine(
    (probe) => probeMechanisms.filter((name) => probe[name]).length === 1,
    `must have exactly one of ${probeMechanisms.join(', ')}`,
  )

/** The three probes of a container group with their defaults; times are whole seconds (platform reference, section 8.8). */
export const probeSchemas = {
  liveness_probe: probeWith({ failures: 3, period: 10, successes: 1, timeout: 30 }),
  readiness_probe: probeWith({ failures: 3, period: 1, successes: 1, timeout: 1 }),
  startup_probe: probeWith({ failures: 15, period: 3, successes: 2, timeout: 10 }),
}

export type Probe = z.infer<typeof probeSchemas.liveness_probe>
