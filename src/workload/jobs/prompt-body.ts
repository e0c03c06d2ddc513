import { ignoredOptions } from '../../contracts/convert-output.ts'
import { promptRequestSchema } from '../../contracts/prompt.ts'
import { WorkloadError } from '../base/errors.ts'

/** Ways of delivery that a client may know from elsewhere and that this server does not have. */
const unbuilt = ['webhook', 'webhook_v2', 's3', 'http_upload', 'azure_blob_upload', 'hf_upload']
const known = new Set([...Object.keys(promptRequestSchema.shape), 'credentials', ...unbuilt])

/** Throws `upload-not-configured` for a body that wants its images delivered in a way that is not there. */
export function refuseUnbuilt(body: Readonly<Record<string, unknown>>): void {
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
  return [
    ...keys.map((key) => `${key} is not a field of a prompt and was ignored`),
    ...ignoredOptions(body.convert_output).map((key) => `convert_output.options.${key} has no effect and was ignored`),
  ]
}
