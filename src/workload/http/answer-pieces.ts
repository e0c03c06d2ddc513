import { FileInBase64, piecesOf, unreadJson } from '../base/json-pieces.ts'
import type { JobAnswer } from '../jobs/job.ts'

/** The JSON of an answer in pieces, so that no image is ever whole in memory. */
export function answerPieces({ head, files, urls }: JobAnswer): AsyncGenerator<string> {
  return piecesOf(unreadJson({ ...head, images: urls ?? files.map((file) => new FileInBase64(file)) }))
}
