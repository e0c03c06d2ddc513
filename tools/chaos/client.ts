import { setTimeout as pause } from 'node:timers/promises'

/** A prompt and where its result should go. */
export interface Asked {
  readonly id: string
  /** Pictures it makes. */
  readonly images: number
  readonly plain: boolean
  readonly bucket: string | undefined
  readonly body: Readonly<Record<string, unknown>>
}

const TRY_MS = 5000

/** The `i`th prompt: some are told to two receivers, some to one, some go to the store first. */
export function promptOf(i: number, to: { readonly receiver: string; readonly bucket: string }): Asked {
  const id = `chaos-${i}`
  const images = 1 + (i % 2)
  const plain = i % 3 === 1
  const bucket = i % 3 === 2 ? to.bucket : undefined
  const prompt = {
    1: { class_type: 'EmptyImage', inputs: { width: 64, height: 64, batch_size: images, color: i } },
    2: { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'out' } },
  }
  const body = {
    id,
    prompt,
    webhook_v2: `${to.receiver}/v2`,
    ...(plain && { webhook: `${to.receiver}/plain` }),
    ...(bucket && { s3: { bucket, prefix: `${id}/` } }),
  }
  return { id, images, plain, bucket, body }
}

/** Asks whoever is there until somebody accepts: under one id it is one prompt, however often it is asked for. */
export async function accept({ body }: Asked, url: () => string | undefined, deadline: number): Promise<void> {
  for (;;) {
    const at = url()
    const status = at === undefined ? 0 : await post(`${at}/prompt`, body)
    if (status === 202) return
    if (status >= 400 && status < 500 && status !== 429) throw new Error(`a workload answered ${status}`)
    if (Date.now() > deadline) throw new Error(`nobody accepted a prompt; the last answer was ${status}`)
    await pause(50)
  }
}

/** The status; 0 when there is no answer. */
async function post(url: string, body: object): Promise<number> {
  const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  try {
    const response = await fetch(url, { ...request, signal: AbortSignal.timeout(TRY_MS) })
    await response.arrayBuffer()
    return response.status
  } catch {
    return 0 // it was killed, or is about to be
  }
}
