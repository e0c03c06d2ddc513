import { type Request, type Response, Router } from 'express'
import type { z } from 'zod'
import {
  type CpuAvailability,
  cpuAvailabilityQuerySchema,
  type GpuAvailability,
  gpuAvailabilityQuerySchema,
} from '../../contracts/platform/availability.ts'
import type { Db } from '../base/database.ts'
import { sendJson } from '../base/json.ts'
import { invalid, readBody } from '../base/read-body.ts'
import type { Nodes } from '../instances/nodes.ts'
import { takenNodes } from '../instances/taken-nodes.ts'
import type { GpuClassIds } from './group-definition.ts'
import { organizationOf } from './organization.ts'

export interface AvailabilityServices {
  readonly db: Db
  /** Epoch milliseconds. */
  readonly now: () => number
  readonly nodes: Nodes
  readonly gpuClasses: GpuClassIds
}

/**
 * `POST …/availability/cpu` and `/gpu`: on how many nodes a container could be placed (section 13). A node has every GPU, is
 * in every country and is taken from nobody, so neither these nor the priority change the number.
 */
export function createAvailabilityRoutes({ db, now, nodes, gpuClasses }: AvailabilityServices): Router {
  const count = async (response: Response, { cpu, memory, storage_amount }: Wanted) => {
    const least = { cpu: cpu ?? 0, memory: memory ?? 0, storage_amount: storage_amount ?? 0 }
    const taken = await takenNodes(db, organizationOf(response).id, now())
    return { available: nodes.count(least, taken), onCall: nodes.count(least, new Set()) }
  }

  const router = Router()
  router.post('/availability/cpu', async (request: Request, response) => {
    const wanted = await readBody(cpuAvailabilityQuerySchema, request)
    const { available, onCall } = await count(response, wanted)
    sendJson(response, { available_cpu_batch: available, on_call_cpu: onCall } satisfies CpuAvailability)
  })
  router.post('/availability/gpu', async (request: Request, response) => {
    const wanted = await readBody(gpuAvailabilityQuerySchema, request)
    const unknown = [...wanted.gpu_classes.entries()].filter(([, id]) => !gpuClasses.has(id))
    if (unknown.length > 0)
      throw invalid(Object.fromEntries(unknown.map(([i]) => [`gpu_classes.${i}`, ['must be a known GPU class']])))
    const { available, onCall } = await count(response, wanted)
    sendJson(response, {
      available_gpu_high: available,
      available_gpu_medium: available,
      available_gpu_low: available,
      available_gpu_batch: available,
      on_call_gpu: onCall,
    } satisfies GpuAvailability)
  })
  return router
}

type Wanted = z.infer<typeof cpuAvailabilityQuerySchema>
