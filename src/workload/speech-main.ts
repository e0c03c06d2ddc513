import { probeGraph } from './architectures/probe.ts'
import { messageOf, WorkloadError } from './base/errors.ts'
import { once } from './base/once.ts'
import type { EngineConfig } from './config.ts'
import { serveSpeech } from './engine/speech-server.ts'
import { decodeAudio } from './media/decode-audio.ts'
import { findSpeechModel, whatToInstall } from './speech/find-speech-model.ts'
import { openSpeechModel } from './speech/open-speech-model.ts'
import type { SpeechModel } from './speech/speech-model.ts'
import { createWriteDown } from './speech/write-down.ts'

/** What is not installed, or not whole, is for the operator to mend, and not for whoever asks. */
async function openModel({ modelDir, provider, device, threads }: EngineConfig): Promise<SpeechModel> {
  const folder = await findSpeechModel(modelDir)
  if (folder === undefined) throw new WorkloadError('no-speech-model', whatToInstall(modelDir))
  return openSpeechModel(folder, { wanted: provider, device, threads, probe: probeGraph() }).catch((error: unknown) => {
    if (!(error instanceof WorkloadError)) throw error
    throw new WorkloadError('no-speech-model', error.message, { cause: error })
  })
}

try {
  const config = JSON.parse(process.argv[2]!) as EngineConfig // written by the main process
  serveSpeech(
    createWriteDown({
      model: once(() => openModel(config)),
      decode: decodeAudio,
      now: () => performance.now(),
    }),
  )
} catch (error) {
  process.stderr.write(`the speech process cannot start: ${messageOf(error)}\n`)
  process.exit(1)
}
