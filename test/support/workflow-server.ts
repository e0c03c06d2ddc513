import { afterAll, beforeAll } from 'vitest'
import { draw, expectPictures, type Picture } from './drawing.ts'
import { sharedFolder } from './folder.ts'
import { type Server, startServer } from './server.ts'
import type { Source } from './workflow.ts'
import { writeModels } from './workflow-models.ts'

/** A server over small random models, as tests of workflows use it. */
export interface WorkflowServer extends Pick<Server, 'post' | 'line'> {
  /** Has all of `images` drawn in one prompt. */
  drawn(...images: readonly Source[]): Promise<readonly Picture[]>
  /** Expects each of `same` to be the picture of `plain`, and each of `other` to be another one. */
  compare(plain: Source, same: readonly Source[], other?: readonly Source[]): Promise<void>
}

/** One server for all tests of a file, over the model files that match `wanted`; it is there once the tests run. */
export function workflowServer(wanted: RegExp): WorkflowServer {
  const folder = sharedFolder()
  let server: Server
  beforeAll(async () => {
    await writeModels(folder(), wanted)
    server = await startServer({ MODEL_DIR: folder() })
  }, 60_000)
  afterAll(() => server.stop())
  return {
    post: (body, init) => server.post(body, init),
    line: (pattern) => server.line(pattern),
    drawn: (...images) => draw(server, ...images),
    compare: (plain, same, other) => expectPictures(server, plain, same, other),
  }
}
