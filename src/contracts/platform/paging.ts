import { z } from 'zod'

const integer = (max: number) =>
  z
    .string('must be given once')
    .regex(/^[+-]?\d+$/, 'must be an integer')
    .transform(Number)
    .pipe(z.number().min(1).max(max))

/** The query parameters of collections; pages count from 1 (section 2.3). */
export const pagingSchema = z.object({
  page: integer(2_147_483_647).default(1),
  page_size: integer(100).default(100),
})

export type Paging = z.infer<typeof pagingSchema>
