import { z } from 'zod'

const price = z.object({
  price: z
    .string()
    .regex(/^\d{1,12}(\.\d{1,7})?$/, 'must be a decimal number as text')
    .meta({
      description: 'USD per hour.',
      example: '0.30',
    }),
  priority: z.enum(['high', 'medium', 'low', 'batch']),
})

const size = z.number().int().min(0)

/** A kind of accelerator that container groups may ask for (section 8.11). RAM is in MB, storage in bytes. */
export const gpuClassSchema = z
  .object({
    id: z.uuid(),
    name: z
      .string()
      .min(2)
      .max(63)
      .regex(/^[\x20-\x7e]*$/, 'must be printable ASCII'),
    gpu_class_type: z.enum(['community', 'secure']),
    gpu_count: z.number().int().min(1).max(512),
    is_high_demand: z.boolean(),
    min_ram: size,
    max_ram: size,
    min_storage: size,
    max_storage: size,
    min_vcpu: size,
    max_vcpu: size,
    prices: z
      .array(price)
      .min(1)
      .max(100)
      .refine(
        (prices) => new Set(prices.map(({ priority }) => priority)).size === prices.length,
        'must have one entry per priority',
      ),
  })
  .meta({ id: 'GpuClass', description: 'A kind of accelerator.' })

/** The answer of the list operation. */
export const gpuClassListSchema = z.object({ items: z.array(gpuClassSchema).max(100) })

export type GpuClass = z.infer<typeof gpuClassSchema>
