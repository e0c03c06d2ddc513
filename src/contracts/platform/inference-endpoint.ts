import { z } from 'zod'
import { nameSchema } from './names.ts'

const oneLine = (min: number, max: number) =>
  z
    .string()
    .min(min)
    .max(max)
    .refine((text) => !/[\r\n]/.test(text), 'must be a single line')

/** What an operator says of an inference endpoint (platform reference, section 8.4). */
export const endpointDefinitionSchema = z.object({
  id: z.uuid(),
  name: nameSchema,
  display_name: z.string().regex(/^[ ,-.0-9A-Za-z]{2,63}$/),
  description: oneLine(0, 1000),
  icon_url: z.url().max(2048),
  input_schema: oneLine(1, 100_000),
  output_schema: oneLine(1, 100_000),
  price_description: oneLine(1, 100),
  readme: oneLine(1, 100_000),
})

/** An inference endpoint as it is answered. */
export const inferenceEndpointSchema = endpointDefinitionSchema.extend({ organization_name: nameSchema }).strict()

/** A page of endpoints. */
export const inferenceEndpointPageSchema = z.strictObject({
  items: z.array(inferenceEndpointSchema).max(100),
  page: z.number().int(),
  page_size: z.number().int(),
  total_size: z.number().int(),
})

export type EndpointDefinition = z.infer<typeof endpointDefinitionSchema>
