import type { Log } from '../../common/log.ts'
import { ownHeaderFor } from '../base/own-header.ts'
import type { Config } from '../config.ts'
import type { Webhooks } from '../delivery/parcel.ts'
import { azureTarget } from '../delivery/targets/azure.ts'
import { httpUploadTarget } from '../delivery/targets/http-upload.ts'
import { s3Target } from '../delivery/targets/s3.ts'
import { storageTarget } from '../delivery/targets/storage.ts'
import { createUploads, type Uploads } from '../delivery/uploads.ts'
import { createWebhooks } from '../delivery/webhooks.ts'
import type { Network } from './network.ts'
import type { Telemetry } from './telemetry.ts'

/** The ways on which results leave this server. */
export function wireDeliveries(
  config: Config,
  { outbound, agents, token }: Network,
  { metrics, events }: Telemetry,
  log: Log,
): { readonly uploads: Uploads; readonly webhooks: Webhooks } {
  const { azure, authHeader, publicUrl, s3, s3AllowedBuckets, storage } = config
  return {
    uploads: createUploads(
      {
        s3: s3Target(s3, s3AllowedBuckets, { check: outbound.check, ...agents }),
        azure: azureTarget(azure, Date.now),
        http: httpUploadTarget(outbound, (url) => ownHeaderFor(authHeader, url)),
        storage: storageTarget(storage, token),
      },
      { attempts: config.uploadAttempts, timeoutMs: config.uploadTimeoutMs, random: Math.random },
      { attempted: metrics.onUploadAttempt, uploaded: (file) => events?.uploaded(file), now: Date.now },
    ),
    webhooks: createWebhooks({
      ...config.webhooks,
      publicUrl,
      stream: outbound.stream,
      random: Math.random,
      now: Date.now,
      log,
      onAttempt: metrics.onAttempt,
    }),
  }
}
