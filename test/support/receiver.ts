import { onTestFinished } from 'vitest'
// biome-ignore lint/correctness/useImportExtensions: it takes the file with the types for the program
import { type Behaviour, type Receiver, type ReceiverOptions, startReceiver } from '../../tools/chaos/receiver.mjs'

export type { Behaviour }

/** A receiver of webhooks for the length of one test. */
export async function receiver(options: ReceiverOptions = {}): Promise<Receiver> {
  const started = await startReceiver(options)
  onTestFinished(() => started.close())
  return started
}

/** Behaves so at the first call, the second and so on; the last stands for all that follow. */
export function inTurn(...behaviours: readonly Behaviour[]): () => Behaviour {
  const left = [...behaviours]
  return () => (left.length > 1 ? left.shift()! : left[0]!)
}
