import type { BlobStore } from './blob-store.ts'
import type { Files } from './files.ts'
import { type Place, urlOf } from './place.ts'
import type { StorageSettings } from './settings.ts'
import type { Signatures } from './signatures.ts'

export interface KeepTextDeps {
  readonly files: Pick<Files, 'store'>
  readonly signatures: Pick<Signatures, 'sign'>
  readonly receive: BlobStore['receive']
  /** The address of the storage API, without a slash at its end. */
  readonly publicUrl: string
  readonly settings: StorageSettings
}

/** Stores a text of the platform's own as a file; resolves with its URL, signed for as long as a signature may last. */
export async function keepText(deps: KeepTextDeps, place: Place, mimeType: string, text: string): Promise<string> {
  const { files, signatures, receive, publicUrl, settings } = deps
  const received = await receive(pieces(text))
  try {
    await files.store(place, mimeType, received)
  } finally {
    await received.discard()
  }
  return `${urlOf(publicUrl, place)}?token=${await signatures.sign(place, settings.signature.most)}`
}

async function* pieces(text: string) {
  yield Buffer.from(text)
}
