import { z } from 'zod'

const oneOf = <const T extends readonly string[]>(words: T) => z.enum(words, `must be one of ${words.join(', ')}`)
const whole = (min: number, max: number) => {
  const fault = `must be a whole number from ${min} to ${max}`
  return z.int(fault).min(min, fault).max(max, fault).optional()
}
const share = z
  .number('must be a number from 0 to 1')
  .min(0, 'must be a number from 0 to 1')
  .max(1, 'must be a number from 0 to 1')
  .optional()
const flag = z.boolean('must be true or false').optional()
const subsampling = oneOf(['4:2:0', '4:4:4']).optional()

const jpegOptionsSchema = z.object({
  quality: whole(1, 100).meta({ description: 'Default 80.' }),
  progressive: flag,
  chromaSubsampling: subsampling.meta({ description: 'Default `4:2:0`.' }),
  optimizeCoding: flag.meta({ description: 'Default true.' }),
  mozjpeg: flag.meta({ description: 'Turns on what makes files smaller, at the price of time.' }),
  trellisQuantisation: flag,
  overshootDeringing: flag,
  optimizeScans: flag,
  quantisationTable: whole(0, 8),
})

const webpOptionsSchema = z.object({
  quality: whole(1, 100).meta({ description: 'Default 80.' }),
  alphaQuality: whole(0, 100).meta({ description: 'Default 100.' }),
  lossless: flag,
  nearLossless: flag,
  smartSubsample: flag,
  smartDeblock: flag,
  exact: flag,
  preset: oneOf(['default', 'photo', 'picture', 'drawing', 'icon', 'text'])
    .optional()
    .meta({ description: 'Default `default`.' }),
  effort: whole(0, 6).meta({ description: 'Default 4; 6 is slowest.' }),
  minSize: flag,
  mixed: flag,
  /** Every format takes it; only JPEG and PNG have it. */
  progressive: flag,
})

const pngOptionsSchema = z.object({
  progressive: flag,
  compressionLevel: whole(0, 9).meta({ description: 'Default 6.' }),
  adaptiveFiltering: flag,
  palette: flag.meta({ description: 'Makes an indexed image.' }),
  /** This and the next three say how a palette is made, and nothing without `palette: true`. */
  quality: whole(0, 100).meta({ description: 'Only with `palette`; default 100.' }),
  effort: whole(1, 10).meta({ description: 'Only with `palette`; default 7.' }),
  colours: whole(2, 256).meta({ description: 'Only with `palette`; default 256.' }),
  dither: share.meta({ description: 'Only with `palette`; default 1.' }),
})

const avifOptionsSchema = z.object({
  quality: whole(1, 100).meta({ description: 'Default 50.' }),
  lossless: flag,
  effort: whole(0, 9).meta({ description: 'Default 4; 9 is slowest.' }),
  chromaSubsampling: subsampling.meta({ description: 'Default `4:4:4`.' }),
  bitdepth: z
    .union([z.literal(8), z.literal(10), z.literal(12)], 'must be 8, 10 or 12')
    .optional()
    .meta({ description: 'Default 8.' }),
  tune: oneOf(['auto', 'iq', 'psnr', 'ssim']).optional().meta({ description: 'Default `auto`.' }),
  /** Every format takes it; only JPEG and PNG have it. */
  progressive: flag,
})

const optionsSchemas = {
  png: pngOptionsSchema,
  jpeg: jpegOptionsSchema,
  jpg: jpegOptionsSchema,
  webp: webpOptionsSchema,
  avif: avifOptionsSchema,
} as const

const names = Object.keys(optionsSchemas)

/**
 * In which format a prompt's images come back. Nothing is filled in: the encoder must see only what the client sent,
 * because its options undo each other when all are given. What the format has no use for is dropped.
 */
export const convertOutputSchema = z
  .discriminatedUnion(
    'format',
    [
      z.object({ format: z.literal('png'), options: optionsSchemas.png.optional() }),
      z.object({ format: z.enum(['jpeg', 'jpg']), options: optionsSchemas.jpeg.optional() }),
      z.object({ format: z.literal('webp'), options: optionsSchemas.webp.optional() }),
      z.object({ format: z.literal('avif'), options: optionsSchemas.avif.optional() }),
    ],
    { error: ({ code }) => (code === 'invalid_union' ? `must be one of ${names.join(', ')}` : undefined) },
  )
  .meta({ id: 'ConvertOutput', description: 'The format of the files; without it, the PNG as saved.' })

/** The keys of `convert_output.options` that change nothing in the format asked for: what a warning should name. */
export function ignoredOptions(raw: unknown): readonly string[] {
  const { format, options } = rawSchema.safeParse(raw).data ?? {}
  if (format === undefined || options === undefined) return []
  const known = new Set(Object.keys(optionsSchemas[format].shape))
  if (format === 'webp' || format === 'avif') known.delete('progressive')
  if (format === 'png' && options.palette !== true)
    for (const key of ['quality', 'effort', 'colours', 'dither']) known.delete(key)
  return Object.keys(options).filter((key) => !known.has(key))
}

const rawSchema = z.object({
  format: z.enum(['png', 'jpeg', 'jpg', 'webp', 'avif']),
  options: z.record(z.string(), z.unknown()).optional(),
})

export type ConvertOutput = z.infer<typeof convertOutputSchema>
/** The word a client asks for, which is also the file's extension. */
export type OutputFormat = ConvertOutput['format']
/** What a client may set for files of format `F`. */
export type OutputOptions<F extends OutputFormat> = NonNullable<
  Extract<ConvertOutput, { readonly format: F }>['options']
>
