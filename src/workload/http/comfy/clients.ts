import type { WebSocket } from 'ws'
import { z } from 'zod'
import { stringifyExact } from '../../../common/json.ts'
import { featureFlags } from './feature-flags.ts'
import { describedFrame, type Preview, plainFrame } from './preview-frame.ts'

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
  /** The same for a picture, in the form that the client asked for. */
  sendPreview(id: string | undefined, preview: Preview): void
  /** Whether the client `id` is there. */
  has(id: string | undefined): boolean
  /** Whether it is and has said that it knows previews. */
  knowsPreviews(id: string | undefined): boolean
  /** Called with the id of each client that comes. */
  onConnected(listener: (id: string) => void): void
  /** Called with the id of each client that has come, has said what it knows, or has gone. */
  onPresence(listener: (id: string) => void): void
  /** Hangs up on everybody. */
  close(): void
}

export function createClients(maxUploadBytes: number): Clients {
  const sockets = new Map<string, WebSocket>()
  /** Also those whose place another connection has taken. */
  const open = new Set<WebSocket>()
  /** Those that want to be told what a preview is of. */
  const described = new WeakSet<WebSocket>()
  const arrivals: ((id: string) => void)[] = []
  const changes: ((id: string) => void)[] = []
  const tellChange = (id: string) => {
    for (const listener of changes) listener(id)
  }

  const find = (id: string | undefined) => (id === undefined ? undefined : sockets.get(id))
  const isFast = (socket: WebSocket | undefined) => socket !== undefined && socket.bufferedAmount < SLOW_BYTES
  const write = (socket: WebSocket | undefined, text: string | Buffer): void => {
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
        if (sockets.get(id) !== socket) return
        sockets.delete(id)
        tellChange(id)
      })
      socket.once('message', (data, isBinary) => {
        const wanted = isBinary ? undefined : featuresIn(String(data))
        if (!wanted) return
        if (wanted.supports_preview_metadata === true) described.add(socket)
        tellChange(id)
        write(socket, frame('feature_flags', featureFlags(maxUploadBytes)))
      })
      for (const listener of arrivals) listener(id)
      tellChange(id)
    },
    send(id, type, data) {
      if (id !== undefined && sockets.has(id)) write(sockets.get(id), frame(type, data))
    },
    sendIfFast(id, type, data) {
      const socket = find(id)
      if (isFast(socket)) write(socket, frame(type, data()))
    },
    sendPreview(id, preview) {
      const socket = find(id)
      if (socket && isFast(socket)) write(socket, described.has(socket) ? describedFrame(preview) : plainFrame(preview))
    },
    has: (id) => find(id) !== undefined,
    knowsPreviews(id) {
      const socket = find(id)
      return socket !== undefined && described.has(socket)
    },
    broadcast(type, data) {
      const text = frame(type, data)
      for (const socket of sockets.values()) write(socket, text)
    },
    onConnected: (listener) => void arrivals.push(listener),
    onPresence: (listener) => void changes.push(listener),
    close() {
      for (const socket of open) {
        socket.close(GOING_AWAY, 'the server is shutting down')
        setTimeout(() => socket.terminate(), CLOSE_MS).unref()
      }
    },
  }
}

const handshake = z.object({ type: z.literal('feature_flags'), data: z.record(z.string(), z.unknown()).catch({}) })

/** What a client says it can do, if its first message is its half of the handshake. */
function featuresIn(text: string): Data | undefined {
  try {
    return handshake.safeParse(JSON.parse(text)).data?.data
  } catch {
    return undefined // no JSON, so no handshake: what clients may say beside it is nobody's concern, as upstream
  }
}
