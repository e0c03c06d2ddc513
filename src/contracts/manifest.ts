import { z } from 'zod'

/** A model to bring to a place of this server. */
const manifestModelSchema = z.object({
  url: z
    .string()
    .max(16_384)
    .refine((text) => /^(https?|s3):\/\//i.test(text) && URL.canParse(text), 'must be an http, https or s3 URL'),
  local_path: z.string().min(1).max(4096),
})

const models = z.array(manifestModelSchema).nullish()

/** What a server is to bring about when it starts; `null` stands for nothing, as in a YAML file whose list is empty. */
export const manifestSchema = z.looseObject({
  models: z.looseObject({ before_start: models, after_start: models }).nullish(),
  apt: z.unknown().optional(),
  pip: z.unknown().optional(),
  custom_nodes: z.unknown().optional(),
})

export type ManifestModel = z.infer<typeof manifestModelSchema>
