import type { WebSocket } from 'ws'
import { stringifyExact } from '../../base/json.ts'
import { featureFlags } from './feature-flags.ts'

type Data = Readonly<Record<string, unknown>>

/** How often a client is asked whether it is still there. */
const PING_MS = 30_000
/** With so many bytes unsent, a client gets no more of what it can do without. */
const SLOW_BYTES = 1 << 20
/** With so many, it is hung up on. */
const STUCK_BYTES = 64 << 20
const CLOSE_MS = 500
const GOING_AWAY = 1001

/** Those who listen to `/ws`. */
export interface Clients {
  /** A connection of the client `id`; it takes the place of an earlier one. */
  accept(socket: WebSocket, id: string): void
  /** Sends to the client `id` if it is there. */
  send(id: string | undefined, type: string, data: Data): void
  /** The same unless it is slow: then it does without, and `data` is not asked for. */
  sendIfFast(id: string | undefined, type: string, data: () => Data): void
  broadcast(type: string, data: Data): void
  /** Called with the id of each client that comes. */
  onConnected(listener: (id: string) => void): void
  /** Hangs up on everybody. */
  close(): void
}

export function createClients(maxUploadBytes: number): Clients {
  const sockets = new Map<string, WebSocket>()
  /** Also those whose place another connection has taken. */
  const open = new Set<WebSocket>()
  const listeners: ((id: string) => void)[] = []

  const write = (socket: WebSocket | undefined, text: string): void => {
    if (!socket || socket.readyState !== socket.OPEN) return
    if (socket.bufferedAmount > STUCK_BYTES) socket.terminate()
    else socket.send(text, () => undefined) // a connection that breaks is reported by its end
  }
  const frame = (type: string, data: Data) => stringifyExact({ type, data })

  return {
    accept(socket, id) {
      sockets.set(id, socket)
      open.add(socket)
      let alive = true
      const ping = setInterval(() => {
        if (alive) socket.ping()
        else socket.terminate()
        alive = false
      }, PING_MS)
      socket.on('pong', () => {
        alive = true
      })
      socket.on('error', () => socket.terminate())
      socket.once('close', () => {
        clearInterval(ping)
        open.delete(socket)
        if (sockets.get(id) === socket) sockets.delete(id)
      })
      socket.once('message', (data, isBinary) => {
        if (!isBinary && asksForFeatures(String(data)))
          write(socket, frame('feature_flags', featureFlags(maxUploadBytes)))
      })
      for (const listener of listeners) listener(id)
    },
    send(id, type, data) {
      if (id !== undefined && sockets.has(id)) write(sockets.get(id), frame(type, data))
    },
    sendIfFast(id, type, data) {
      const socket = id === undefined ? undefined : sockets.get(id)
      if (socket && socket.bufferedAmount < SLOW_BYTES) write(socket, frame(type, data()))
    },
    broadcast(type, data) {
      const text = frame(type, data)
      for (const socket of sockets.values()) write(socket, text)
    },
    onConnected: (listener) => void listeners.push(listener),
    close() {
      for (const socket of open) {
        socket.close(GOING_AWAY, 'the server is shutting down')
        setTimeout(() => socket.terminate(), CLOSE_MS).unref()
      }
    },
  }
}

/** Whether a client's first message is its half of the handshake. */
function asksForFeatures(text: string): boolean {
  try {
    const message: unknown = JSON.parse(text)
    return typeof message === 'object' && message !== null && 'type' in message && message.type === 'feature_flags'
  } catch {
    return false
  }
}
