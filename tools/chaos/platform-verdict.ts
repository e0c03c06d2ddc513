import sharp from 'sharp'
import { Webhook } from 'standardwebhooks'
import type { ChaosJob } from './platform-client.ts'
// biome-ignore lint/correctness/useImportExtensions: it takes the file with the types for the program
import type { ReceivedCall } from './receiver.mjs'

/** What became of jobs; all but the first three and the last two should be 0. */
export interface JobVerdict {
  readonly jobs: number
  readonly succeeded: number
  /** Outputs that are a picture. */
  readonly pictures: number
  /** Neither succeeded nor failed nor cancelled. */
  readonly unsettled: number
  /** Accepted and not in the record. */
  readonly lost: number
  /** In the record and never accepted, or more than once. */
  readonly surplus: number
  /** With another number of final events than one, or events in another order than that of section 14.1. */
  readonly disordered: number
  /** Whose receiver took no call yet. */
  readonly untold: number
  /** Calls whose signature is not right, or that tell something else than the record. */
  readonly misaddressed: number
  /** Jobs with calls under more than one webhook id. */
  readonly manyIds: number
  /** Calls that were answered 2xx beyond the first of their job. */
  readonly repeated: number
  /** How many jobs took so many attempts. */
  readonly attempts: Readonly<Record<number, number>>
}

interface Told {
  readonly type: string
  readonly data: ChaosJob
}

const ended: ReadonlySet<string> = new Set(['succeeded', 'failed', 'cancelled'])

/** Compares what was accepted with the record and with the calls that came. */
export async function judgeJobs(
  accepted: readonly string[],
  read: () => Promise<readonly ChaosJob[]>,
  calls: readonly ReceivedCall[],
  secret: string,
): Promise<JobVerdict> {
  const jobs = await read()
  const byId = new Map(jobs.map((job) => [job.id, job]))
  const verifier = new Webhook(secret)
  const ids = new Map<string, Set<string>>()
  const taken = new Map<string, number>()
  let misaddressed = 0
  for (const { raw, headers, status = 0, webhookId = '' } of calls) {
    if (raw === undefined) continue // it was dropped on its way
    const told = toldBy(verifier, raw, headers)
    const job = told && byId.get(told.data.id)
    if (!job || told.type !== `queue.job.${job.status}` || told.data.status !== job.status) {
      misaddressed++
      continue
    }
    ids.set(job.id, (ids.get(job.id) ?? new Set()).add(webhookId))
    if (status >= 200 && status < 300) taken.set(job.id, (taken.get(job.id) ?? 0) + 1)
  }
  const attempts: Record<number, number> = {}
  for (const { events } of jobs) {
    const started = events.filter(({ action }) => action === 'started').length
    attempts[started] = (attempts[started] ?? 0) + 1
  }
  const count = (isSo: (job: ChaosJob) => boolean): number => jobs.filter(isSo).length
  const unsettled = count(({ status }) => !ended.has(status))
  return {
    jobs: accepted.length,
    succeeded: count(({ status }) => status === 'succeeded'),
    pictures: unsettled > 0 ? 0 : (await Promise.all(jobs.map(isPicture))).filter(Boolean).length,
    unsettled,
    lost: accepted.filter((id) => !byId.has(id)).length,
    surplus: jobs.length - new Set(accepted.filter((id) => byId.has(id))).size,
    disordered: count((job) => ended.has(job.status) && !isOrdered(job)),
    untold: accepted.filter((id) => !taken.has(id)).length,
    misaddressed,
    manyIds: [...ids.values()].filter(({ size }) => size > 1).length,
    repeated: [...taken.values()].reduce((sum, times) => sum + times - 1, 0),
    attempts,
  }
}

function toldBy(verifier: Webhook, raw: string, headers: ReceivedCall['headers']): Told | undefined {
  try {
    return verifier.verify(raw, headers as Record<string, string>) as Told
  } catch {
    return undefined
  }
}

const isOrdered = ({ status, events }: ChaosJob): boolean =>
  new RegExp(`^created( started)* ${status}$`).test(events.map(({ action }) => action).join(' '))

async function isPicture({ output }: ChaosJob): Promise<boolean> {
  const [image] = output?.images ?? []
  if (image === undefined) return false
  return sharp(Buffer.from(image, 'base64'))
    .raw()
    .toBuffer()
    .then(
      ({ length }) => length > 0,
      () => false,
    )
}
