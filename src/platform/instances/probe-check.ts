import { once } from 'node:events'
import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { connect } from 'node:net'
import type { GroupDefinition } from '../../contracts/platform/container-group.ts'
import type { Probe } from '../../contracts/platform/probe.ts'
import { checkGrpc } from './grpc-check.ts'
import type { RunningContainer } from './launcher.ts'

/** Applications listen on one of the addresses of this name, or on both. */
export const HOST = 'localhost'

const isPort = (port: number): boolean => port >= 1 && port <= 65_535

/** Looks once (platform reference, section 18). May reject: that is no success either. */
export async function checkOnce(probe: Probe, container: RunningContainer, signal: AbortSignal): Promise<boolean> {
  const { exec, http, tcp, grpc } = probe
  if (exec) return (await container.exec(exec.command, signal)) === 0
  const inside = (http ?? tcp ?? grpc)?.port ?? 0
  const port = container.portOf(inside)
  if (!isPort(inside) || port === undefined) return false
  if (http) return checkHttp(http, port, signal)
  if (grpc) return checkGrpc(grpc.service, port, signal)
  // What stands at a mapped port may accept a connection before it knows whether the container does.
  return container.address === undefined ? checkTcp(HOST, port, signal) : checkTcp(container.address, inside, signal)
}

/** The ports of a group's containers that are to be reached from this machine. */
export function portsOf(definition: GroupDefinition): readonly number[] {
  const { networking, queue_connection: queue, liveness_probe, readiness_probe, startup_probe } = definition
  const probes = [liveness_probe, readiness_probe, startup_probe].map(
    (probe) => probe?.http ?? probe?.tcp ?? probe?.grpc,
  )
  return [...new Set([networking, queue, ...probes].flatMap((one) => one?.port ?? []).filter(isPort))]
}

async function checkHttp(
  { scheme, path, headers }: NonNullable<Probe['http']>,
  port: number,
  signal: AbortSignal,
): Promise<boolean> {
  const request = scheme === 'https' ? requestHttps : requestHttp
  const sent = request({
    host: HOST,
    port,
    path: path.startsWith('/') ? path : `/${path}`,
    rejectUnauthorized: false,
    agent: false,
    signal,
  })
  for (const { name, value } of headers) sent.setHeader(name, value)
  sent.end()
  const [{ statusCode = 0 }] = await once(sent, 'response')
  sent.destroy()
  return statusCode >= 200 && statusCode <= 399
}

async function checkTcp(host: string, port: number, signal: AbortSignal): Promise<boolean> {
  const socket = connect({ host, port })
  try {
    await once(socket, 'connect', { signal })
    return true
  } finally {
    socket.destroy()
  }
}
