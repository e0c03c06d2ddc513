import { type IncomingMessage, request as plainRequest } from 'node:http'
import { request as secureRequest } from 'node:https'
import { messageOf } from '../base/errors.ts'
import type { Attempt } from './transitions.ts'

/** Longer answers make an attempt fail. */
const MAX_OUTPUT_BYTES = 10 * 2 ** 20
/** Problem bodies are read so far, and for so long: the attempt has failed in any case. */
const MAX_PROBLEM_BYTES = 64 * 2 ** 10
const PROBLEM_MS = 5000
/** Characters of a problem's sentence (platform reference, section 4.1). */
const LONGEST_DETAIL = 2000

/** Why an attempt failed. */
export interface Failure {
  readonly failure: string
  /** What the application says of it, where its answer is a problem object. */
  readonly detail?: string | undefined
  /** JSON: what the job keeps if it is not tried again. */
  readonly output?: string
  /** Whether it is not there, or takes nothing now: the next job would fare no better. */
  readonly isAway?: boolean
}

/** What an application made of a job: its output as JSON, none for `null`; or why the attempt failed. */
export type Answer = { readonly output: string | undefined } | Failure

/** Has an application do a job. Never rejects. */
export type Call = (attempt: Attempt, signal: AbortSignal) => Promise<Answer>

/**
 * Posts the input of a job, and nothing around it (platform reference, section 15.3). There is no time limit and no
 * redirect. 408, 429, 5xx, what is not JSON and what is over 10 MiB are failures; any other answer is the output.
 */
export const applicationAt =
  (url: URL): Call =>
  async (attempt, signal) => {
    try {
      const response = await post(url, attempt, signal)
      const { statusCode: status = 0 } = response
      if (status === 408 || status === 429 || status >= 500)
        return {
          failure: `the application answered ${status}`,
          detail: await detailIn(response),
          isAway: status === 429 || status === 503,
        }
      const text = await textOf(response, MAX_OUTPUT_BYTES)
      return { output: JSON.parse(text) === null ? undefined : text }
    } catch (error) {
      return { failure: messageOf(error), isAway: isBroken(error) }
    }
  }

/** Whether it is a fault of the connection, whose codes are those of the system, and not of what came over it. */
const isBroken = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && /^E[A-Z0-9]+$/.test(String(error.code))

/** Each call has a connection of its own: one that was kept open might be closed while the next job is on its way. */
function post(url: URL, { id, input }: Attempt, signal: AbortSignal): Promise<IncomingMessage> {
  const send = url.protocol === 'https:' ? secureRequest : plainRequest
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(input), 'job-id': id }
  return new Promise((resolve, reject) => {
    send(url, { method: 'POST', headers, agent: false, signal })
      .once('response', resolve)
      .once('error', reject)
      .end(input)
  })
}

/** The sentence of a problem object, also where it is sent as plain JSON; undefined for an answer that is none. */
async function detailIn(response: IncomingMessage): Promise<string | undefined> {
  const late = setTimeout(() => response.destroy(), PROBLEM_MS)
  try {
    if (!/^application\/(problem\+)?json\b/i.test(response.headers['content-type'] ?? '')) return undefined
    const problem = JSON.parse(await textOf(response, MAX_PROBLEM_BYTES)) as { readonly detail?: unknown } | null
    const detail = problem?.detail
    if (typeof detail !== 'string' || detail === '') return undefined
    return detail.slice(0, LONGEST_DETAIL).replace(/[\ud800-\udbff]$/, '') // not half a pair
  } catch {
    return undefined // the status is reason enough
  } finally {
    clearTimeout(late)
    response.destroy()
  }
}

async function textOf(response: IncomingMessage, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxBytes) throw new Error(`the answer is over ${maxBytes / 2 ** 20} MiB`) // which also ends the connection
    chunks.push(chunk)
  }
  return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))
}
