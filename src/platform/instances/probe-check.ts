import { once } from 'node:events'
import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { connect } from 'node:net'
import type { Probe } from '../../contracts/platform/probe.ts'
import { checkGrpc } from './grpc-check.ts'
import type { RunningContainer } from './launcher.ts'

/** Applications listen on one of the addresses of this name, or on both. */
export const HOST = 'localhost'

const exists = (port: number): boolean => port >= 1 && port <= 65_535

/** Looks once (platform reference, section 18). May reject: that is no success either. */
export async function checkOnce(probe: Probe, container: RunningContainer, signal: AbortSignal): Promise<boolean> {
  const { exec, http, tcp, grpc } = probe
  if (exec) return (await container.exec(exec.command, signal)) === 0
  if (http) return exists(http.port) && checkHttp(http, container.port, signal)
  if (tcp) return exists(tcp.port) && checkTcp(container.port, signal)
  return grpc !== undefined && exists(grpc.port) && checkGrpc(grpc.service, container.port, signal)
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

async function checkTcp(port: number, signal: AbortSignal): Promise<boolean> {
  const socket = connect({ host: HOST, port })
  try {
    await once(socket, 'connect', { signal })
    return true
  } finally {
    socket.destroy()
  }
}
