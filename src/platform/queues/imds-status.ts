import { imdsStatusSchema } from '../../contracts/platform/imds.ts'
import type { InstanceStatus } from './worker.ts'

/** Of one question, in milliseconds. */
const ANSWER_MS = 5000

/** Asks the metadata service at `uri` how its instance is (platform reference, section 20.2). */
export function imdsStatus(uri: string): InstanceStatus {
  const url = new URL('/v1/status', uri)
  return async () => {
    const response = await fetch(url, {
      headers: { metadata: 'true' },
      redirect: 'error',
      signal: AbortSignal.timeout(ANSWER_MS),
    })
    if (response.ok) return imdsStatusSchema.parse(await response.json())
    await response.body?.cancel()
    if (response.status === 404) return undefined
    throw new Error(`the metadata service answered ${response.status}`)
  }
}
