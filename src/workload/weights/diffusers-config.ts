import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { messageOf, WorkloadError } from '../base/errors.ts'
import { ifThere } from '../base/if-there.ts'

const schedulerSchema = z.object({
  _class_name: z.string().default(''),
  prediction_type: z.string().optional(),
  rescale_betas_zero_snr: z.boolean().default(false),
  sigma_min: z.number().default(0.002),
  sigma_max: z.number().default(80),
  sigma_data: z.number().default(0.5),
})

const autoencoderSchema = z.object({
  scaling_factor: z.number().nullish(),
  latents_mean: z.array(z.number()).nullish(),
  latents_std: z.array(z.number()).nullish(),
  block_out_channels: z.array(z.number()).nullish(),
})

const textSchema = z.object({ hidden_act: z.string().optional() })

const indexSchema = z.object({ _class_name: z.string().default('') })

/** How a network was trained, as the scheduler beside it says. */
export type SchedulerConfig = z.infer<typeof schedulerSchema>
/** What the autoencoder's configuration says of its latents. */
export type AutoencoderConfig = z.infer<typeof autoencoderSchema>

/** The class of pipeline that a folder in the layout of diffusers is for, or an empty text. */
export const readPipelineClass = async (folder: string): Promise<string> =>
  (await readConfig(join(folder, 'model_index.json'), indexSchema))?._class_name ?? ''

/** The scheduler's configuration in a folder in the layout of diffusers; undefined when it has none. */
export const readSchedulerConfig = (folder: string): Promise<SchedulerConfig | undefined> =>
  readConfig(join(folder, 'scheduler', 'scheduler_config.json'), schedulerSchema)

/** The configuration of the autoencoder in the sub-folder `part`; undefined when it has none. */
export const readAutoencoderConfig = (folder: string, part: string): Promise<AutoencoderConfig | undefined> =>
  readConfig(join(folder, part, 'config.json'), autoencoderSchema)

/** The activation of the text transformer in the sub-folder `part`; undefined when nothing says so. */
export const readTextActivation = async (folder: string, part: string): Promise<string | undefined> =>
  (await readConfig(join(folder, part, 'config.json'), textSchema))?.hidden_act

async function readConfig<T>(path: string, schema: z.ZodType<T>): Promise<T | undefined> {
  try {
    const text = await ifThere(readFile(path, 'utf8'))
    return text === undefined ? undefined : schema.parse(JSON.parse(text))
  } catch (cause) {
    throw new WorkloadError('execution-failed', `${path} cannot be read: ${messageOf(cause)}`, { cause })
  }
}
