import { parseExact, stringifyExact } from '../../common/json.ts'
import { maskedUrl } from '../base/credentials.ts'
import { WorkloadError } from '../base/errors.ts'
import type { QueueRequest } from '../queue/job-queue.ts'
import { bodyKeyOf } from './body-key.ts'
import type { Seal } from './seal.ts'

/** Characters that may be kept of a prompt that has ended. */
const SMALL = 8192

/** An asynchronous prompt as it is kept in the queue. */
export interface AskedPrompt {
  /** The body of the request, without what is secret in it. */
  readonly body: Body
  /** What is secret as JSON, closed; undefined when there is nothing. */
  readonly sealed?: string | undefined
  /** Equal for requests that ask for the same. */
  readonly bodyKey: string
  readonly requestId: string
}

type Body = Readonly<Record<string, unknown>>

/** What stands in a body and not in the queue. */
interface Secrets {
  readonly credentials?: unknown
  /** The URLs of inputs with a user part or a query, by what they are told as. */
  readonly urls: readonly (readonly [told: string, url: string])[]
}

/** `body` as the queue keeps it. */
export async function writeAsked({ credentials, ...body }: Body, requestId: string, seal: Seal): Promise<string> {
  const urls: [string, string][] = []
  const told = seal.opensEverywhere ? withInputs(body, (input) => hideUrl(input, urls)) : body
  const secrets: Secrets = { ...(credentials !== undefined && { credentials }), urls }
  const isOpen = credentials === undefined && urls.length === 0
  const sealed = isOpen ? undefined : await seal.close(stringifyExact(secrets))
  return stringifyExact({ body: told, sealed, bodyKey: bodyKeyOf(body), requestId } satisfies AskedPrompt)
}

/** What `writeAsked` wrote. */
export const readAsked = ({ asked }: QueueRequest): AskedPrompt => parseExact(asked) as AskedPrompt

/** The same without what only another run would need; undefined when that is not worth the writing. */
export function asEnded(
  { asked }: QueueRequest,
  { bodyKey, requestId }: Pick<AskedPrompt, 'bodyKey' | 'requestId'>,
): string | undefined {
  if (asked.length < SMALL) return undefined
  return stringifyExact({ body: {}, bodyKey, requestId } satisfies AskedPrompt)
}

/** The body as it came. Throws `execution-failed` when another key has closed what is secret in it. */
export async function openBody({ body, sealed }: AskedPrompt, seal: Seal): Promise<Body> {
  if (sealed === undefined) return body
  const opened = await seal.open(sealed)
  if (opened === undefined)
    throw new WorkloadError(
      'execution-failed',
      'the credentials of this prompt were stored by a server with another key: servers that share a queue need one ' +
        'CREDENTIALS_KEY',
    )
  const { credentials, urls } = parseExact(opened) as Secrets // only writeAsked closes them
  const whole = withInputs(body, (input) => urls.find(([told]) => told === input)?.[1] ?? input)
  return credentials === undefined ? whole : { ...whole, credentials }
}

/** Different URLs stay different, so that each is found again. */
function hideUrl(input: unknown, urls: [string, string][]): unknown {
  if (typeof input !== 'string' || !/^(https?|s3):/i.test(input)) return input
  const masked = maskedUrl(input)
  if (masked === input) return input
  const known = urls.find(([, url]) => url === input)
  const told = known?.[0] ?? `${masked}#${urls.length}`
  if (!known) urls.push([told, input])
  return told
}

/** `body` with `change` made to every input of its nodes that is no link. */
function withInputs(body: Body, change: (input: unknown) => unknown): Body {
  const prompt = Object.entries(Object(body.prompt) as Record<string, { inputs: Record<string, unknown> }>)
  const changed = prompt.map(([id, node]) => {
    const inputs = Object.entries(node.inputs).map(([name, input]) => [name, change(input)])
    return [id, { ...node, inputs: Object.fromEntries(inputs) }]
  })
  return { ...body, prompt: Object.fromEntries(changed) }
}
