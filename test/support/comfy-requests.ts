import type { Server } from './server.ts'

export type Json = Record<string, unknown>

/** Requests as ComfyUI's clients send them; `server` is asked for once the tests run. */
export function comfyRequests(server: () => Server) {
  const get = async (path: string) => {
    const response = await fetch(server().url + path)
    return [response.status, await response.json()] as [number, Json]
  }
  const post = (path: string, body?: unknown) =>
    fetch(server().url + path, {
      method: 'POST',
      ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
  const submit = async (prompt: unknown, more: Json = {}) => {
    const response = await server().post({ prompt, client_id: 'me', ...more })
    return [response.status, await response.json()] as [number, { prompt_id: string; number: number } & Json]
  }
  const historyOf = async (id: string) => (await get(`/history/${id}`))[1][id] as Json | undefined
  /** Waits for the end of a prompt. */
  const over = async (id: string): Promise<Json> => {
    for (;;) {
      const entry = await historyOf(id)
      if (entry) return entry
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  return { get, post, submit, historyOf, over }
}
