import type { Socket } from 'node:net'
import type { Balancer } from './balancer.ts'
import { notReady } from './balancer.ts'
import { connect } from './connect.ts'
import type { GatewayGroup, Target } from './group.ts'

/** A connection to an instance on which nothing was sent yet. */
export interface Reached {
  readonly target: Target
  readonly socket: Socket
  /** Ends the connection and makes the place free; to be called once. */
  leave(): void
}

/**
 * A connection to the instance whose turn it is; if that refuses, to another one, once. Throws as `Balancer.take`, and 503
 * when the second refuses too or there is none.
 */
export async function reach(group: GatewayGroup, balancer: Balancer, signal: AbortSignal): Promise<Reached> {
  const wait = group.networking.client_request_timeout
  const since = performance.now()
  const first = await attempt(group, balancer, { wait, signal })
  if ('socket' in first) return first
  const left = Math.max(wait - (performance.now() - since), 0)
  const second = await attempt(group, balancer, { wait: left, signal, except: first.refusedBy })
  if ('socket' in second) return second
  throw notReady(second.cause)
}

async function attempt(
  group: GatewayGroup,
  balancer: Balancer,
  wish: Parameters<Balancer['take']>[1],
): Promise<Reached | { readonly refusedBy: string; readonly cause: unknown }> {
  const { target, leave } = await balancer.take(group, wish)
  try {
    const socket = await connect(target.port, wish.signal)
    return {
      target,
      socket,
      leave() {
        socket.destroy()
        leave()
      },
    }
  } catch (cause) {
    leave()
    wish.signal.throwIfAborted()
    return { refusedBy: target.id, cause }
  }
}
