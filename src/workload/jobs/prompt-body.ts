import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ignoredOptions } from '../../contracts/convert-output.ts'
import { type PromptRequest, promptRequestSchema, promptSchema } from '../../contracts/prompt.ts'
import { WorkloadError } from '../base/errors.ts'
import type { Upload, Uploads } from '../delivery/uploads.ts'
import { checkGraph, type GraphChecks } from './check-graph.ts'
import { createFaults, requestFault } from './faults.ts'

/** Ways of delivery that a client may know from elsewhere and that this server does not have. */
const unbuilt = ['webhook', 'webhook_v2', 'azure_blob_upload', 'hf_upload']
const known = new Set([...Object.keys(promptRequestSchema.shape), 'credentials', ...unbuilt])

/** A body that has the right form, and all that came with it. */
export interface ParsedBody {
  readonly request: PromptRequest
  /** Where the files go, if not into the answer. */
  readonly upload: Upload | undefined
  readonly raw: Readonly<Record<string, unknown>>
}

/**
 * Checks the form of a request's body. Where it is wrong the graph is looked at as well, if that is possible, so that
 * one answer tells every fault.
 */
export async function parseBody(
  body: unknown,
  checks: GraphChecks & { readonly spool: string; readonly uploads: Uploads },
  targets?: readonly string[],
): Promise<ParsedBody> {
  const faults = createFaults()
  const parsed = promptRequestSchema.safeParse(body)
  if (!parsed.success) faults.add(requestFault(parsed.error.issues))
  const raw = asRecord(body)
  await faults.of(() => refuseUnbuilt(raw))
  const upload = parsed.success ? await faults.of(() => checks.uploads.plan(parsed.data)) : undefined
  if (parsed.success && !faults.merged()) return { request: parsed.data, raw, upload }
  const prompt = promptSchema.safeParse(raw.prompt)
  const folder = join(checks.spool, randomUUID())
  if (prompt.success)
    await checkGraph(prompt.data, folder, faults, checks, targets).finally(() =>
      rm(folder, { recursive: true, force: true }),
    )
  throw faults.merged()!
}

const asRecord = (body: unknown): Readonly<Record<string, unknown>> =>
  typeof body === 'object' && body !== null ? { ...body } : {}

/** Throws `upload-not-configured` for a body that wants its images delivered in a way that is not there. */
function refuseUnbuilt(body: Readonly<Record<string, unknown>>): void {
  const asked = unbuilt.filter((key) => body[key] !== undefined && body[key] !== null)
  const [location] = asked
  if (location === undefined) return
  const errors = Object.fromEntries(asked.map((key) => [key, ['this server does not deliver this way']]))
  throw new WorkloadError(
    'upload-not-configured',
    `${asked.join(', ')}: this server does not deliver this way; leave it out and the answer carries the images`,
    { location, errors },
  )
}

/** What of a body changes nothing, a sentence each. */
export function warningsOf(body: Readonly<Record<string, unknown>>): readonly string[] {
  const keys = Object.keys(body).filter((key) => !known.has(key))
  const second = body.s3 && body.http_upload ? ['http_upload'] : []
  return [
    ...second.map((key) => `${key} was ignored: files are uploaded to one place, the first that is named`),
    ...keys.map((key) => `${key} is not a field of a prompt and was ignored`),
    ...ignoredOptions(body.convert_output).map((key) => `convert_output.options.${key} has no effect and was ignored`),
  ]
}
