import { WorkloadError } from '../base/errors.ts'
import { bytesOf, FileInBase64, type UnreadJson, unreadJson } from '../base/json-pieces.ts'
import { problemOf } from '../base/problem.ts'
import type { CompleteParcel, Destination, FailedParcel, Parcel } from './parcel.ts'

/** The calls that tell one receiver of a parcel, in order. Bodies are made when asked for, because they may be long. */
export interface WebhookCalls {
  readonly count: number
  body(index: number): UnreadJson
  /** Why there are no files in them although the parcel has some: they carry links, or tell that it failed. */
  readonly tooLarge: 'links' | 'refused' | undefined
}

/** How large a body may be, and where clients can read what is larger; without a place they cannot. */
export interface BodyLimits {
  readonly maxBytes: number
  readonly publicUrl: string | undefined
}

/** Plans the calls of one receiver; no file is read for it. */
export function webhookCalls(parcel: Parcel, kind: Destination['kind'], limits: BodyLimits): WebhookCalls {
  if (parcel.outcome === 'failed') return failure(parcel, kind)
  const { files, urls } = parcel
  const whole = complete(parcel, kind, urls ?? files.map((file) => new FileInBase64(file)))
  if (urls) return whole
  const indexes = Array.from({ length: whole.count }, (_, i) => i)
  const over = new Set(indexes.filter((i) => bytesOf(whole.body(i)) > limits.maxBytes))
  if (over.size === 0) return whole
  if (limits.publicUrl === undefined) return { ...failure(refused(parcel, limits), kind), tooLarge: 'refused' }
  const linked = complete(withWarning(parcel), kind, linksTo(parcel, limits.publicUrl))
  const body = (i: number) => (over.has(i) ? linked : whole).body(i)
  return { count: whole.count, body, tooLarge: 'links' }
}

function complete(parcel: CompleteParcel, kind: Destination['kind'], images: readonly unknown[]): WebhookCalls {
  const { id, head, files } = parcel
  const { id: _id, prompt, filenames, stats, ...rest } = head
  const signed = () =>
    unreadJson({ type: 'prompt.complete', timestamp: timeOf(parcel), ...rest, id, prompt, images, filenames, stats })
  if (kind === 'webhook_v2') return { count: 1, body: signed, tooLarge: undefined }
  const each = (i: number) =>
    unreadJson({ event: 'output.complete', image: images[i], id, filename: files[i]!.filename, prompt, stats })
  return { count: files.length, body: each, tooLarge: undefined }
}

function failure(parcel: FailedParcel, kind: Destination['kind']): WebhookCalls {
  const { id, prompt, problem } = parcel
  const { error, code, location, node_id, node_type } = problem
  const plain = { event: 'prompt.failed', id, prompt, error }
  const event = { type: 'prompt.failed', timestamp: timeOf(parcel) }
  const signed = { ...event, id, prompt, error, code, location, node_id, node_type, problem }
  const told = kind === 'webhook' ? plain : signed
  return { count: 1, body: () => unreadJson(told), tooLarge: undefined }
}

/** The same in every attempt. */
const timeOf = ({ at }: Parcel): string => new Date(at).toISOString()

const linksTo = ({ id, files }: CompleteParcel, publicUrl: string): readonly string[] =>
  files.map((_, i) => `${publicUrl.replace(/\/+$/, '')}/jobs/${id}/outputs/${i}`)

function withWarning(parcel: CompleteParcel): CompleteParcel {
  const { warnings = [] } = parcel.head as { readonly warnings?: readonly string[] } // of an answer
  const told = [...warnings, 'the images are too large for a call: images has links to them']
  return { ...parcel, head: { ...parcel.head, warnings: told } }
}

function refused({ head, ...parcel }: CompleteParcel, { maxBytes }: BodyLimits): FailedParcel {
  const error = new WorkloadError(
    'result-too-large',
    `the result is larger than the ${Math.floor(maxBytes / 2 ** 20)} MB that a webhook may carry: ask for an upload, ` +
      'for smaller or fewer images, or have the server given a PUBLIC_URL, to which calls can link',
  )
  // A finished prompt's own graph, which the answer repeats.
  const prompt = head.prompt as FailedParcel['prompt']
  return { ...parcel, outcome: 'failed', prompt, problem: problemOf(error, parcel.id) }
}
