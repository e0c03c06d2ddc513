import type { Db } from '../base/database.ts'
import type { Call } from './call-application.ts'
import type { EndpointProcessor } from './endpoint-setting.ts'
import { bullNameOf } from './job-place.ts'
import type { WorkLoop, WorkLoopOptions } from './work-loop.ts'

/** The loops that have endpoints' processors do their jobs (platform reference, section 14.6). */
export interface Processors {
  /** Begins with the organizations that have jobs. */
  open(): Promise<void>
  /** Has a job done that an organization has just made. */
  noteJob(organizationId: string, endpoint: string): void
  /** Looks for organizations whose first jobs other processes made, and for jobs of all. */
  look(): Promise<void>
  stop(graceMs: number): Promise<void>
}

export interface ProcessorsOptions {
  readonly db: Db
  /** By the name of their endpoint. */
  readonly processors: ReadonlyMap<string, EndpointProcessor>
  readonly callOf: (endpoint: string, processor: EndpointProcessor) => Call
  readonly createLoop: (options: Pick<WorkLoopOptions, 'places' | 'call' | 'concurrency'>) => WorkLoop
}

/** One loop for each endpoint that has a processor; it serves in turn all organizations that have had jobs for it. */
export function createProcessors({ db, processors, callOf, createLoop }: ProcessorsOptions): Processors {
  const served = [...processors].map(([endpoint, processor]) => {
    const places = new Set<string>()
    const call = callOf(endpoint, processor)
    const loop = createLoop({ places: () => [...places], call, concurrency: processor.concurrency })
    return [endpoint, { places, loop }] as const
  })
  const byEndpoint = new Map(served)

  /** Places stay for as long as this process does: asking one that is empty costs little. */
  async function findPlaces(): Promise<void> {
    const rows = await db
      .selectFrom('jobs')
      .select(['organization_id', 'endpoint'])
      .distinct()
      .where('queue_id', 'is', null)
      .where('finish_time', 'is', null)
      .execute()
    for (const { organization_id, endpoint } of rows) addPlace(organization_id, endpoint ?? '')
  }
  function addPlace(organizationId: string, endpoint: string): void {
    byEndpoint.get(endpoint)?.places.add(bullNameOf({ organizationId, endpoint }))
  }
  return {
    async open() {
      await findPlaces()
      for (const { loop } of byEndpoint.values()) loop.setReady(true)
    },
    noteJob(organizationId, endpoint) {
      addPlace(organizationId, endpoint)
      byEndpoint.get(endpoint)?.loop.look()
    },
    async look() {
      if (byEndpoint.size === 0) return
      await findPlaces()
      for (const { loop } of byEndpoint.values()) loop.look()
    },
    async stop(graceMs) {
      await Promise.all([...byEndpoint.values()].map(({ loop }) => loop.stop(graceMs)))
    },
  }
}
