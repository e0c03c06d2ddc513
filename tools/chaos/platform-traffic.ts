import { setTimeout as pause } from 'node:timers/promises'
import { askGateway, type GatewayAnswer } from './platform-client.ts'
import type { PlatformBook } from './platform-process.ts'

/** Clients of a workload behind the gateway. */
export interface Traffic {
  /** Resolves with how often each status came, and with the answers that must never be given. */
  stop(): Promise<{ readonly answers: Readonly<Record<string, number>>; readonly strange: readonly string[] }>
}

const PAUSE_MS = 60
/** Every so many requests one makes a picture, which takes long enough to be cut. */
const PICTURE_EVERY = 10

/** What the gateway may say when instances are lost (platform reference, section 23). */
const allowed: ReadonlySet<number> = new Set([503, 504, 524])

/** Asks for the health of an instance, again and again, and now and then for a picture. */
export function createTraffic(book: PlatformBook, host: string, picture: (seed: number) => object): Traffic {
  const answers: Record<string, number> = {}
  const strange: string[] = []
  let stopped = false

  const note = ({ status, type, body, whole }: GatewayAnswer, path: string): void => {
    const name = whole ? `${status}` : `${status} cut`
    answers[name] = (answers[name] ?? 0) + 1
    const isRefusal = allowed.has(status) && type === 'application/problem+json'
    if (status !== 200 && !isRefusal) strange.push(`${path}: ${name} ${body.slice(0, 200)}`)
  }
  const ask = async (from: number): Promise<void> => {
    for (let i = from; !stopped; i++) {
      const isPicture = i % PICTURE_EVERY === 0
      const path = isPicture ? '/prompt' : '/health'
      const more = isPicture ? { method: 'POST', body: picture(1_000_000 * (from + 1) + i) } : {}
      note(await askGateway(book, host, { path, ...more }), path)
      await pause(PAUSE_MS)
    }
  }
  const asking = [0, 5].map(ask)
  return {
    async stop() {
      stopped = true
      await Promise.all(asking)
      return { answers, strange }
    },
  }
}
