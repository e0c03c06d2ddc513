import type { Db } from '../base/database.ts'
import type { EndpointProcessor } from './endpoint-book.ts'
import { bullNameOf } from './job-place.ts'
import type { WorkLoop, WorkLoopOptions } from './work-loop.ts'

/** The loops that have endpoints' processors do their jobs (platform reference, section 14.6). */
export interface Processors {
  readonly loops: ReadonlySet<WorkLoop>
  /** Begins with the organizations there are. */
  open(): Promise<void>
  stop(graceMs: number): Promise<void>
}

export interface ProcessorsOptions {
  readonly db: Db
  /** By the name of their endpoint. */
  readonly processors: ReadonlyMap<string, EndpointProcessor>
  readonly createLoop: (options: Pick<WorkLoopOptions, 'places' | 'url' | 'concurrency'>) => WorkLoop
}

/** One loop for each endpoint that has a processor; it serves all organizations in turn. */
export function createProcessors({ db, processors, createLoop }: ProcessorsOptions): Processors {
  const loops = new Set<WorkLoop>()
  return {
    loops,
    async open() {
      const organizations = await db.selectFrom('organizations').select('id').execute()
      for (const [endpoint, { url, concurrency }] of processors) {
        const places = organizations.map(({ id }) => bullNameOf({ organizationId: id, endpoint }))
        const loop = createLoop({ places: () => places, url: new URL(url), concurrency })
        loops.add(loop)
        loop.setReady(true)
      }
    },
    async stop(graceMs) {
      await Promise.all([...loops].map((loop) => loop.stop(graceMs)))
    },
  }
}
