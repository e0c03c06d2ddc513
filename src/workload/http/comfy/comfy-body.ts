import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { NodeFault } from '../../../contracts/problem.ts'
import { WorkloadError } from '../../base/errors.ts'
import type { Submission } from '../../jobs/job.ts'

type Fields = Readonly<Record<string, unknown>>

/** A prompt of a client of ComfyUI's, in our terms. */
export interface ComfyBody {
  /** The body of a prompt of ours. */
  readonly body: Fields
  readonly submission: Submission
}

const number = z.union([z.number(), z.string().trim().min(1).pipe(z.coerce.number())])
/** What such a body says beside the prompt. */
export const envelopeSchema = z.object({
  client_id: z.string().max(256).nullish(),
  number: number.nullish(),
  front: z.unknown().optional(),
  partial_execution_targets: z.array(z.string()).nullish(),
})

/** Translates the body of `POST /prompt`. Throws `invalid-request`, with ComfyUI's fault where that has one. */
export function readComfyBody(sent: unknown): ComfyBody {
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) throw noPrompt()
  const { prompt, prompt_id, extra_data, ...raw } = sent as Fields // JSON objects are records
  if (prompt === undefined) throw noPrompt()
  const envelope = envelopeSchema.safeParse(raw)
  if (!envelope.success) {
    const [{ path, message } = { path: [], message: '' }] = envelope.error.issues
    throw new WorkloadError('invalid-request', `${path.join('.')}: ${message}`, { location: path.join('.') })
  }
  const { client_id, number, front, partial_execution_targets } = envelope.data
  refuseClassless(prompt)
  const id = uuidOf(prompt_id)
  return {
    body: {
      ...raw,
      prompt,
      ...(id !== undefined && { id }),
      ...(isFields(extra_data) && { extra_data: withoutNulls(extra_data) }),
    },
    submission: {
      clientId: client_id ?? undefined,
      number: number ?? undefined,
      front: Boolean(front),
      targets: partial_execution_targets ?? undefined,
    },
  }
}

/** An id for a client that has none. */
export const newClientId = (): string => randomUUID().replaceAll('-', '')

function uuidOf(id: unknown): string | undefined {
  if (id === undefined || id === null) return undefined
  if (typeof id === 'string' && /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/.test(id)) return id
  const details =
    'prompt_id must be a UUID string in canonical lowercase hyphenated form; omit it to let the server generate one'
  throw refusal({ type: 'invalid_prompt_id', message: 'prompt_id must be a valid UUID', details, extra_info: {} })
}

/** ComfyUI has words of its own for a node without a class. */
function refuseClassless(prompt: unknown): void {
  if (!isFields(prompt)) return
  for (const [id, node] of Object.entries(prompt)) {
    if (!isFields(node) || (node.class_type !== undefined && node.class_type !== null)) continue
    const title = isFields(node._meta) && typeof node._meta.title === 'string' ? node._meta.title : undefined
    throw refusal({
      type: 'missing_node_type',
      message: `Node '${title || `ID #${id}`}' has no class_type. The workflow may be corrupted or a custom node is missing.`,
      details: `Node ID '#${id}'`,
      extra_info: { node_id: id, class_type: null, node_title: title ?? null },
    })
  }
}

const noPrompt = () =>
  refusal({ type: 'no_prompt', message: 'No prompt provided', details: 'No prompt provided', extra_info: {} })

const refusal = (graphFault: NodeFault) => new WorkloadError('invalid-request', graphFault.message, { graphFault })

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const withoutNulls = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))
