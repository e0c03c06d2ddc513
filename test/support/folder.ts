import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, onTestFinished } from 'vitest'

/** What a test has begun may still write for a moment. */
const removed = (folder: string) => rm(folder, { recursive: true, force: true, maxRetries: 5 })

/** An empty folder for the length of one test. */
export async function emptyFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'easel-'))
  onTestFinished(() => removed(folder))
  return folder
}

/** A folder for all tests of a file, to be asked for while they are declared; its path is known once they run. */
export function sharedFolder(): () => string {
  let folder = ''
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'easel-'))
  })
  afterAll(() => removed(folder))
  return () => folder
}
