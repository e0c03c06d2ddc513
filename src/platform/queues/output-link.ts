import { stringifyExact } from '../../common/json.ts'

/** Bytes of UTF-8: larger outputs of transcriptions are not kept in the job (platform reference, section 8.3). */
const MOST_INLINE_BYTES = 1_000_000

type Members = Readonly<Record<string, unknown>>

const membersOf = (text: string): Members => {
  const value: unknown = JSON.parse(text)
  return typeof value === 'object' && value !== null ? (value as Members) : {}
}

/** Whether the output of a transcription goes into a file. One that only says what is wrong with the media never does. */
export function isToBeStored(input: string, output: string): boolean {
  if (Buffer.byteLength(output) > MOST_INLINE_BYTES) return true
  return membersOf(input).return_as_file === true && !('error' in membersOf(output))
}

/** What stands in a job in place of its output: where it is, and how long the media and the work were. */
export function linkTo(url: string, output: string): string {
  const { duration_in_seconds, duration, processing_time } = membersOf(output)
  return stringifyExact({ url, duration_in_seconds, duration, processing_time })
}
