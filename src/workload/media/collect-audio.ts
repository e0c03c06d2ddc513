import { WorkloadError } from '../base/errors.ts'
import { createResampler, type Resampler } from './resampler.ts'

/** What speech models hear. */
const RATE = 16_000
/** Other rates are mistakes of a damaged header. */
const [LOWEST_RATE, HIGHEST_RATE] = [1000, 768_000]

/** What a decoder has made of a piece; no channels where nothing has come out yet. */
export interface DecodedPiece {
  readonly channelData: readonly Float32Array[]
  readonly sampleRate: number
}

/** Puts decoded pieces together to one channel at 16 kHz. */
export interface AudioCollector {
  take(piece: DecodedPiece): void
  /** Throws `media-unsupported` when nothing has come. */
  end(): { readonly samples: Float32Array; readonly channels: number }
}

/**
 * `channel` counts from 0, `all` is the mean of all. The rate and the number of channels may change between pieces, as in
 * chained streams; a channel that is missing then is the last one. Throws `media-unsupported` beyond `maxSeconds`.
 */
export function collectAudio(channel: number | 'all', maxSeconds: number): AudioCollector {
  const parts: Float32Array[] = []
  let [length, channels, rate] = [0, 0, 0]
  let resampler: Resampler | undefined

  const keep = (part: Float32Array): void => {
    length += part.length
    if (length > maxSeconds * RATE) throw unusable(`the audio is longer than ${maxSeconds / 3600} hours`)
    parts.push(part)
  }
  const next = (sampleRate: number): Resampler => {
    if (resampler && sampleRate === rate) return resampler
    if (!(sampleRate >= LOWEST_RATE && sampleRate <= HIGHEST_RATE))
      throw unusable(`the audio says that it has ${sampleRate} samples a second`)
    if (resampler) keep(resampler.end())
    rate = sampleRate
    resampler = createResampler(sampleRate, RATE)
    return resampler
  }
  return {
    take({ channelData, sampleRate }) {
      if (channelData.length === 0) return
      channels = Math.max(channels, channelData.length)
      const wanted = channel === 'all' ? channelData : [channelData[Math.min(channel, channelData.length - 1)]!]
      keep(next(Math.round(sampleRate)).push(meanOf(wanted)))
    },
    end() {
      if (resampler) keep(resampler.end())
      if (length === 0) throw unusable('the file has no audio in it')
      const samples = new Float32Array(length)
      let at = 0
      for (const part of parts.splice(0)) {
        samples.set(part, at)
        at += part.length
      }
      return { samples, channels }
    },
  }
}

/** The mean of some channels; what is no number is silence, and what is louder than full is cut. */
function meanOf(channels: readonly Float32Array[]): Float32Array {
  const mean = new Float32Array(channels[0]!.length)
  for (const channel of channels)
    for (let i = 0; i < mean.length; i++) {
      const sample = channel[i]!
      if (!Number.isNaN(sample)) mean[i]! += Math.max(-1, Math.min(1, sample)) / channels.length
    }
  return mean
}

const unusable = (text: string) => new WorkloadError('media-unsupported', text)
