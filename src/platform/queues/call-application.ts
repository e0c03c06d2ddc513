import { type IncomingMessage, request as plainRequest } from 'node:http'
import { request as secureRequest } from 'node:https'
import type { Attempt } from './transitions.ts'

/** Longer answers make an attempt fail. */
const MAX_OUTPUT_BYTES = 10 * 2 ** 20

/** What an application made of a job: its output as JSON, none for `null`; or why the attempt failed. */
export type Answer = { readonly output: string | undefined } | { readonly failure: string }

/**
 * Posts the input of a job, and nothing around it (platform reference, section 15.3). There is no time limit and no
 * redirect. 408, 429, 5xx, what is not JSON and what is over 10 MiB are failures; any other answer is the output.
 */
export async function callApplication(url: URL, attempt: Attempt, signal: AbortSignal): Promise<Answer> {
  try {
    const response = await post(url, attempt, signal)
    const { statusCode: status = 0 } = response
    if (status === 408 || status === 429 || status >= 500) {
      response.destroy()
      return { failure: `the application answered ${status}` }
    }
    const text = await textOf(response)
    return { output: JSON.parse(text) === null ? undefined : text }
  } catch (error) {
    return { failure: error instanceof Error ? error.message : String(error) }
  }
}

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

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_OUTPUT_BYTES) throw new Error('the answer is over 10 MiB') // which also ends the connection
    chunks.push(chunk)
  }
  return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))
}
