import { createReadStream } from 'node:fs'
import { stringifyExact } from '../base/json.ts'
import type { JobAnswer } from '../jobs/job.ts'

/** Bytes of a file in memory at a time: a multiple of 3, so that each becomes whole base64. */
const CHUNK = 3 * 64 * 1024

/** The JSON of an answer in pieces, so that no image is ever whole in memory. */
export async function* answerPieces({ head, files, urls }: JobAnswer): AsyncGenerator<string> {
  if (urls) {
    yield stringifyExact({ ...head, images: urls })
    return
  }
  yield `${stringifyExact(head).slice(0, -1)},"images":[`
  for (const [i, { path }] of files.entries()) {
    yield i === 0 ? '"' : ',"'
    yield* createReadStream(path, { encoding: 'base64', highWaterMark: CHUNK })
    yield '"'
  }
  yield ']}'
}
