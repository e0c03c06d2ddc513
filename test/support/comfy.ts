import { randomUUID } from 'node:crypto'
import { WebSocket } from 'ws'
import type { Server } from './server.ts'

/** A text frame of `/ws`. */
export interface Frame {
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
}

/** A connection to `/ws`. */
export interface Listener {
  readonly id: string
  readonly socket: WebSocket
  /** All that came so far. */
  readonly frames: Frame[]
  /** Waits for a frame that has come or comes. */
  frame(matches: (frame: Frame) => boolean): Promise<Frame>
  /** Waits until a prompt is over for its client. */
  over(promptId: unknown): Promise<void>
  close(): Promise<void>
}

/** Connects as ComfyUI's clients do and waits for the first frame. */
export async function listen(server: Server, id: string = randomUUID(), path = '/ws', headers = {}): Promise<Listener> {
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}${path}?clientId=${id}`, { headers })
  const frames: Frame[] = []
  const waiting = new Set<() => void>()
  socket.on('message', (data, isBinary) => {
    if (!isBinary) frames.push(JSON.parse(String(data)))
    for (const look of waiting) look()
  })
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  const frame = (matches: (frame: Frame) => boolean) =>
    new Promise<Frame>((resolve, reject) => {
      const look = () => {
        const found = frames.find(matches)
        if (!found) return
        waiting.delete(look)
        resolve(found)
      }
      waiting.add(look)
      look()
      void closed.then(() => reject(new Error(`closed after ${JSON.stringify(frames)}`)))
      socket.once('error', reject)
    })
  await frame(({ type }) => type === 'status')
  return {
    id,
    socket,
    frames,
    frame,
    async over(promptId) {
      await frame(({ type, data }) => type === 'executing' && data.node === null && data.prompt_id === promptId)
    },
    async close() {
      socket.close()
      await closed
    },
  }
}
