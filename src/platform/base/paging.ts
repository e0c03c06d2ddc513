import type { Request } from 'express'
import { pagingSchema } from '../../contracts/platform/paging.ts'
import { checked } from './read-body.ts'

/** A page as the database asks for it, and as the wire repeats it. */
export interface Page {
  readonly page: number
  readonly size: number
  readonly limit: number
  readonly offset: number
}

/** The page that a request asks for. Throws 400. */
export function pagingOf({ query }: Request): Page {
  const { page, page_size: size } = checked(pagingSchema, query, 'query')
  return { page, size, limit: size, offset: (page - 1) * size }
}
