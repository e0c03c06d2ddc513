import { z } from 'zod'

/** What happened to a group or to one of its instances, and what the group asked for then (platform reference, section 8.13). */
export const systemLogSchema = z.strictObject({
  event_name: z.string().min(1).max(255),
  event_time: z.iso.datetime(),
  /** Virtual CPUs. */
  resource_cpu: z.number().int(),
  /** Names of GPU classes, with commas between; empty without a GPU. */
  resource_gpu_class: z.string(),
  /** MB. */
  resource_memory: z.number().int(),
  /** Bytes. */
  resource_storage_amount: z.number().int(),
  /** Of the group. */
  version: z.string(),
  instance_id: z.uuid().optional(),
  machine_id: z.uuid().optional(),
})

/** Newest first. */
export const systemLogListSchema = z.strictObject({ items: z.array(systemLogSchema).max(50) })

export type SystemLog = z.infer<typeof systemLogSchema>
