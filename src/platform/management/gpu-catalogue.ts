import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { type GpuClass, gpuClassSchema } from '../../contracts/platform/gpu-class.ts'

const catalogueSchema = z
  .array(gpuClassSchema)
  .refine((classes) => new Set(classes.map(({ id }) => id)).size === classes.length, 'must not repeat an id')

const PRIORITIES = ['high', 'medium', 'low', 'batch'] as const

/** The catalogue of section 8.11, by name. */
export const defaultGpuClasses: readonly GpuClass[] = [
  ours('d00a0ef2-a7ca-4e73-a975-edbd8bf54ded', 'RTX 4090 (24 GB)', true, ['0.30', '0.25', '0.20', '0.16']),
  ours('dc053c37-a11e-4cfe-bf08-cfea8e7b9eff', 'RTX 3090 Ti (24 GB)', false, ['0.24', '0.20', '0.16', '0.12']),
  ours('5816a8fc-416c-46f1-8d4f-c2d9eaec7121', 'RTX 3090 (24 GB)', false, ['0.22', '0.18', '0.14', '0.10']),
  ours('b5582008-4035-4aab-b822-716326f03045', 'RTX 3060 (12 GB)', false, ['0.08', '0.067', '0.053', '0.04']),
].sort(byName)

/** The operator's catalogue, a JSON list of GPU classes. Throws an error that names the file and every fault in it. */
export async function readGpuClasses(file: string): Promise<readonly GpuClass[]> {
  const parsed = catalogueSchema.safeParse(JSON.parse(await readFile(file, 'utf8')))
  if (!parsed.success) throw new Error(`the GPU classes in ${file} are not valid:\n${z.prettifyError(parsed.error)}`)
  return [...parsed.data].sort(byName)
}

function byName(one: GpuClass, other: GpuClass): number {
  return one.name < other.name ? -1 : one.name > other.name ? 1 : one.id < other.id ? -1 : 1
}

/** `prices` in USD per hour, in the order of `PRIORITIES`. */
function ours(id: string, name: string, is_high_demand: boolean, prices: readonly string[]): GpuClass {
  return {
    id,
    name,
    gpu_class_type: 'community',
    gpu_count: 1,
    is_high_demand,
    min_ram: 1024,
    max_ram: 61_440,
    min_storage: 1_073_741_824,
    max_storage: 268_435_456_000,
    min_vcpu: 1,
    max_vcpu: 16,
    prices: PRIORITIES.map((priority, i) => ({ price: prices[i]!, priority })),
  }
}
