import { HeadObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import type { Asked } from './client.ts'
// biome-ignore lint/correctness/useImportExtensions: it takes the file with the types for the program
import type { ReceivedCall } from './receiver.mjs'

/** What became of the prompts. */
export interface Judgement {
  readonly prompts: number
  readonly completed: number
  readonly failed: number
  /** Receivers that have not heard the end of a prompt. */
  readonly untold: number
  /** Receivers that were told two different ends. */
  readonly contradicted: number
  /** Calls beyond the first that was answered well. */
  readonly repeated: number
  /** Calls with a wrong or missing signature, or another id than the prompt's. */
  readonly misaddressed: number
  /** Images of completed prompts that never arrived where they should. */
  readonly missingFiles: number
  /** Prompts whose files could not be uploaded and are kept to be read. */
  readonly keptBack: number
}

export interface ChaosCounts extends Judgement {
  readonly kills: number
  readonly redisRestarts: number
  readonly storeRefusals: number
  readonly leftInSpool: number
  readonly exitCodes: readonly (number | null)[]
  readonly seconds: number
}

const isGood = ({ status = 0 }: ReceivedCall) => status >= 200 && status < 300

export async function judge(
  asked: readonly Asked[],
  calls: readonly ReceivedCall[],
  store: S3Client,
): Promise<Judgement> {
  const counts = {
    completed: 0,
    failed: 0,
    untold: 0,
    contradicted: 0,
    repeated: 0,
    misaddressed: 0,
    missingFiles: 0,
    keptBack: 0,
  }
  const by = grouped(calls)
  for (const prompt of asked) {
    const own = (by.get(prompt.id) ?? []).filter(isGood)
    const signed = own.filter(({ path }) => path === '/v2')
    const ends = new Set(signed.map(({ event }) => event))
    counts.untold += ends.size === 0 ? 1 : 0
    counts.contradicted += ends.size > 1 ? 1 : 0
    counts.repeated += Math.max(signed.length - 1, 0)
    counts.misaddressed += signed.filter(({ verified, webhookId }) => !verified || webhookId !== prompt.id).length
    const completed = ends.has('prompt.complete')
    counts.completed += completed ? 1 : 0
    counts.failed += ends.has('prompt.failed') ? 1 : 0
    const failure = signed.find(({ event }) => event === 'prompt.failed')?.body
    counts.keptBack += failure?.code === 'upload-failed' ? 1 : 0
    if (completed) counts.missingFiles += await missingOf(prompt, signed, store)
    if (prompt.plain) addPlain(counts, prompt, own, completed)
  }
  return { prompts: asked.length, ...counts }
}

/** A receiver of the plain kind has heard all when it has every image, or of a failure. */
function addPlain(
  counts: { untold: number; contradicted: number; repeated: number },
  { images }: Asked,
  own: readonly ReceivedCall[],
  completed: boolean,
): void {
  const plain = own.filter(({ path }) => path === '/plain')
  const files = new Set(plain.filter(({ event }) => event === 'output.complete').map(({ body }) => body?.filename))
  const failures = plain.filter(({ event }) => event === 'prompt.failed')
  if (files.size < images && failures.length === 0) counts.untold++
  if (failures.length > 0 && completed) counts.contradicted++
  counts.repeated += Math.max(plain.length - Math.max(files.size, 1), 0)
}

/** Images that are neither in the call nor in the store. */
async function missingOf({ images, bucket }: Asked, calls: readonly ReceivedCall[], store: S3Client): Promise<number> {
  const told = calls.find(({ event }) => event === 'prompt.complete')?.body?.images as readonly string[] | undefined
  if (!bucket) return images - (told ?? []).filter((image) => image.startsWith('iVBORw0KGgo')).length
  const there = (told ?? []).map((url) => {
    const Key = url.replace(`s3://${bucket}/`, '')
    return store.send(new HeadObjectCommand({ Bucket: bucket, Key })).then(
      ({ ContentLength = 0 }) => ContentLength > 0,
      () => false,
    )
  })
  return images - (await Promise.all(there)).filter(Boolean).length
}

function grouped(calls: readonly ReceivedCall[]): Map<string | undefined, ReceivedCall[]> {
  const groups = new Map<string | undefined, ReceivedCall[]>()
  for (const call of calls) groups.set(call.promptId, [...(groups.get(call.promptId) ?? []), call])
  return groups
}
