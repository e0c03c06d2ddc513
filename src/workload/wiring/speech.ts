import { extname } from 'node:path'
import type { Log } from '../../common/log.ts'
import type { Metrics } from '../base/metrics.ts'
import type { Config } from '../config.ts'
import { createSpeechProcess } from '../engine/speech-process.ts'
import { createTranscriptions, type Transcriptions } from '../jobs/transcriptions.ts'
import { createFetchFile } from '../media/fetch-file.ts'
import { createRemote } from '../media/remote-file.ts'
import { findSpeechModel, whatToInstall } from '../speech/find-speech-model.ts'
import type { Network } from './network.ts'

/** Before something is fetched again that did not come. */
const FIRST_PAUSE_MS = 500
/** How long the process keeps its model for the next file. */
const IDLE_MS = 5 * 60_000

/** Speech to text, and the end of the process that does it. */
export interface Speech {
  readonly transcriptions: Transcriptions
  close(): Promise<void>
}

export function wireSpeech(
  config: Config,
  { outbound, identify, objects }: Network,
  { onTranscription }: Metrics,
  log: Log,
): Speech {
  const { modelDir } = config.engine
  const limits = {
    maxBytes: Number.POSITIVE_INFINITY, // which media are too large is told in words of their own
    minFreeBytes: config.diskMinFreeBytes,
    firstPauseMs: FIRST_PAUSE_MS,
  }
  const speech = createSpeechProcess({
    ...{ entry, stallMs: config.stallMs, idleMs: IDLE_MS, log },
    config: config.engines[0],
  })
  const transcriptions = createTranscriptions({
    findModel: () => findSpeechModel(modelDir),
    whatToInstall: whatToInstall(modelDir),
    fetchFile: createFetchFile(createRemote({ outbound, identify, objects }), limits, Date.now),
    transcribe: speech.transcribe,
    folder: config.spool,
    onEnded: onTranscription,
    now: Date.now,
  })
  return { transcriptions, close: speech.close }
}

// As .ts from source and as .js from dist.
const entry = new URL(`../speech-main${extname(import.meta.filename)}`, import.meta.url)
