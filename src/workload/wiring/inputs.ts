import { join } from 'node:path'
import type { Log } from '../../common/log.ts'
import type { Config } from '../config.ts'
import { pixelCountOf } from '../image/pixel-count.ts'
import { createFetchMedia } from '../media/fetch-media.ts'
import type { TakeInputs } from '../media/inputs.ts'
import { createMediaCache } from '../media/media-cache.ts'
import { createMediaInputs } from '../media/store-media.ts'
import type { Network } from './network.ts'
import type { Telemetry } from './telemetry.ts'

/** Before something is fetched again that did not come. */
const FIRST_PAUSE_MS = 500

/** The way on which pictures come to this server, and how many bytes of them are kept. */
export interface Media {
  readonly takeInputs: TakeInputs
  readonly bytes: number
}

export function wireMedia(
  config: Config,
  { outbound, identify, objects }: Network,
  { metrics }: Telemetry,
  log: Log,
): Media {
  let kept = 0
  const cache = createMediaCache({
    folder: join(config.cacheDir, 'media'),
    maxBytes: config.inputCacheBytes,
    log,
    now: Date.now,
    onChange(bytes, evicted) {
      kept = bytes
      for (let i = 0; i < evicted; i++) metrics.onEviction('media')
    },
  })
  const maxBytes = config.inputMaxBytes
  const media = createFetchMedia({ outbound, identify, objects, cache, maxBytes, firstPauseMs: FIRST_PAUSE_MS })
  const { inputDir } = config.engine
  return {
    takeInputs: createMediaInputs({
      inputDir,
      maxBytes,
      maxPixels: config.inputMaxPixels,
      pixelsOf: pixelCountOf,
      media,
    }),
    get bytes() {
      return kept
    },
  }
}

/** `first`, then `second` over what it made of a prompt. */
export const inTurn =
  (first: TakeInputs, second: TakeInputs): TakeInputs =>
  async (prompt, options) => {
    const one = await first(prompt, options)
    try {
      const two = await second(one.prompt, options)
      const release = () => {
        one.release()
        two.release()
      }
      return { prompt: two.prompt, assumed: new Set([...one.assumed, ...two.assumed]), release }
    } catch (error) {
      one.release()
      throw error
    }
  }
