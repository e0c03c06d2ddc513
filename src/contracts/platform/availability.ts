import { z } from 'zod'
import { resourcesSchema } from './container.ts'
import { countryCodesSchema } from './country-codes.ts'
import { list, record, uuid } from './fields.ts'

const { cpu, memory, storage_amount } = resourcesSchema.shape

const wanted = {
  country_codes: countryCodesSchema.nullish(),
  cpu: cpu.nullish(),
  memory: memory.nullish(),
  storage_amount: storage_amount.nullish(),
}

/** What a container without a GPU would need (platform reference, section 13). */
export const cpuAvailabilityQuerySchema = record(wanted)

/** What a container with one of some GPU classes would need. */
export const gpuAvailabilityQuerySchema = record({ ...wanted, gpu_classes: list(uuid(), 1, 100) })

const count = z.number().int().min(0)

/** How many nodes would take such a container now, and how many could if nobody else had them. */
export const cpuAvailabilitySchema = z.strictObject({ available_cpu_batch: count, on_call_cpu: count })

/** The same for each priority. */
export const gpuAvailabilitySchema = z.strictObject({
  available_gpu_high: count,
  available_gpu_medium: count,
  available_gpu_low: count,
  available_gpu_batch: count,
  on_call_gpu: count,
})

export type CpuAvailability = z.infer<typeof cpuAvailabilitySchema>
export type GpuAvailability = z.infer<typeof gpuAvailabilitySchema>
