import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ignoredOptions } from '../../contracts/convert-output.ts'
import { type PromptRequest, promptRequestSchema, promptSchema } from '../../contracts/prompt.ts'
import { messageOf, WorkloadError } from '../base/errors.ts'
import type { Upload, Uploads } from '../delivery/uploads.ts'
import { checkGraph, type GraphChecks } from './check-graph.ts'
import { createFaults, requestFault } from './faults.ts'

/** Where files may be uploaded to, in the order in which they are looked for. */
const uploadBlocks = ['s3', 'hf_upload', 'azure_blob_upload', 'http_upload', 'storage'] as const
/** What a client may know from elsewhere and this server does not have. */
const unbuilt = ['hf_upload']
const known = new Set([...Object.keys(promptRequestSchema.shape), ...unbuilt])

export interface BodyChecks extends GraphChecks {
  /** The folder that holds a folder a run. */
  readonly spool: string
  readonly uploads: Uploads
}

export interface BodyOptions {
  /** The ids of the outputs that count; undefined: all. */
  readonly targets?: readonly string[] | undefined
  /** Throws `url-not-allowed` for a receiver that may not be called. */
  checkUrl?(url: string): void
}

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
  checks: BodyChecks,
  { targets, checkUrl }: BodyOptions = {},
): Promise<ParsedBody> {
  const faults = createFaults()
  const parsed = promptRequestSchema.safeParse(body)
  if (!parsed.success) faults.add(requestFault(parsed.error.issues))
  const raw = asRecord(body)
  await faults.of(() => refuseUnbuilt(raw))
  if (parsed.success && checkUrl)
    for (const field of ['webhook', 'webhook_v2'] as const)
      await faults.of(() => checkReceiver(field, parsed.data[field], checkUrl))
  // What is called for every image needs no other place for them.
  const isUploaded = parsed.success && parsed.data.webhook === undefined
  const upload = isUploaded ? await faults.of(() => checks.uploads.plan(parsed.data)) : undefined
  if (parsed.success && !faults.merged()) return { request: parsed.data, raw, upload }
  const prompt = promptSchema.safeParse(raw.prompt)
  const folder = join(checks.spool, randomUUID())
  const inputs = { folder, credentials: [], signal: new AbortController().signal, fetch: false }
  if (prompt.success)
    await checkGraph(prompt.data, inputs, faults, checks, targets).finally(() =>
      rm(folder, { recursive: true, force: true }),
    )
  throw faults.merged()!
}

/** Whether a client wants its answer now and the result later, as far as the body says so. */
export function isForLater(body: unknown): boolean {
  const raw = asRecord(body)
  if (isGiven(raw.webhook) || isGiven(raw.webhook_v2)) return true
  const block = uploadBlocks.map((name) => raw[name]).find(isGiven)
  return asRecord(block).async === true
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null

function checkReceiver(location: string, url: string | undefined, check: (url: string) => void): void {
  try {
    if (url !== undefined) check(url)
  } catch (error) {
    throw new WorkloadError('url-not-allowed', `${location}: ${messageOf(error)}`, {
      location,
      errors: { [location]: [messageOf(error)] },
      cause: error,
    })
  }
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
  const blocks = uploadBlocks.filter((key) => isGiven(body[key]))
  const unused = isGiven(body.webhook) ? [] : blocks.slice(1)
  return [
    ...(isGiven(body.webhook) ? blocks : []).map((key) => `${key} was ignored: webhook is sent the images themselves`),
    ...unused.map((key) => `${key} was ignored: files are uploaded to one place, the first that is named`),
    ...keys.map((key) => `${key} is not a field of a prompt and was ignored`),
    ...ignoredOptions(body.convert_output).map((key) => `convert_output.options.${key} has no effect and was ignored`),
  ]
}
