import type { Log } from '../../common/log.ts'
import { type Listening, listen } from '../base/listen.ts'
import { createImdsApp } from '../imds/app.ts'
import type { IdentityTokens } from '../imds/identity-tokens.ts'
import type { ImdsInstance } from '../imds/instance.ts'

const CLOSE_MS = 500

export interface MetadataOptions {
  readonly tokens: IdentityTokens
  readonly baseUrl: string
  /** How long a token is given out again. */
  readonly cacheSeconds: number
  readonly now: () => number
  readonly log: Log
}

/** The metadata services, one listener an instance: who asks is known by where it asks. */
export interface MetadataServices {
  /** Starts the service of an instance and resolves with its address. */
  start(id: string, instance: ImdsInstance): Promise<string>
  stop(id: string): void
  close(): Promise<void>
}

export function createMetadataServices({ tokens, baseUrl, cacheSeconds, now, log }: MetadataOptions): MetadataServices {
  const listeners = new Map<string, Listening>()
  return {
    async start(id, instance) {
      const listener = await listen('127.0.0.1', 0)
      listener.answer(createImdsApp({ instance, tokens, cacheSeconds, baseUrl, now, log }))
      listeners.set(id, listener)
      return `http://127.0.0.1:${listener.port}`
    },
    stop(id) {
      void listeners.get(id)?.close(CLOSE_MS)
      listeners.delete(id)
    },
    close: async () => void (await Promise.all([...listeners.values()].map((listener) => listener.close(CLOSE_MS)))),
  }
}
