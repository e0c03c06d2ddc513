import { lookup } from 'node:dns'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { silentLog } from '../../src/common/log.ts'
import { WorkloadError } from '../../src/workload/base/errors.ts'
import { problemOf } from '../../src/workload/base/problem.ts'
import type { CompleteParcel, DeliveryState, Destination, FailedParcel } from '../../src/workload/delivery/parcel.ts'
import { createWebhooks, type WebhookSettings } from '../../src/workload/delivery/webhooks.ts'
import { addressRules } from '../../src/workload/media/address-rules.ts'
import { createOutbound } from '../../src/workload/media/outbound.ts'
import { emptyFolder } from './folder.ts'

/** Webhooks that may call this machine, and try again after a moment. */
export function webhooksWith(settings: Partial<WebhookSettings> = {}) {
  return createWebhooks({
    stream: createOutbound(addressRules(['127.0.0.1']), lookup).stream,
    secret: undefined,
    attempts: 4,
    timeoutMs: 2000,
    scheduleMs: [0, 10],
    maxBytes: 2 ** 30,
    publicUrl: undefined,
    random: () => 0.5,
    now: Date.now,
    log: silentLog,
    ...settings,
  })
}

const AT = Date.UTC(2025, 10, 24, 12)
const prompt = { 9: { class_type: 'SaveImage', inputs: { filename_prefix: 'a b', images: ['8', 0] } } }

/** A prompt that came to files of these contents. */
export async function completeParcel(contents: readonly (string | Uint8Array)[] = ['pixels']): Promise<CompleteParcel> {
  const folder = await emptyFolder()
  const files = await Promise.all(
    contents.map(async (content, i) => {
      const path = join(folder, `${i}.png`)
      await writeFile(path, content)
      return { filename: `job_a b_0000${i + 1}_.png`, path, bytes: Buffer.byteLength(content), mime: 'image/png' }
    }),
  )
  const filenames = files.map(({ filename }) => filename)
  const stats = { comfy_execution: { start: 1, end: 2.5, duration: 1.5, nodes: {} }, total_time: 3 }
  const head = { webhook_v2: 'http://x.test/', id: 'job', prompt, filenames, stats, warnings: ['”quoted\u2028'] }
  return { outcome: 'complete', id: 'job', webhookId: 'job', at: AT, head, files, urls: undefined }
}

/** A prompt of which a node failed. */
export function failedParcel(): FailedParcel {
  const facts = { nodeId: '9', nodeType: 'SaveImage', location: 'prompt.9' }
  const error = new WorkloadError('execution-failed', 'node 9 (SaveImage) failed: no space', facts)
  return { outcome: 'failed', id: 'job', webhookId: 'job.2', at: AT, prompt, problem: problemOf(error, 'request') }
}

/** The state of a delivery that has not begun. */
export const fresh = ({ kind }: Destination): DeliveryState => ({ kind, status: 'pending', attempts: 0, done: 0 })
