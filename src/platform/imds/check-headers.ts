import type { RequestHandler } from 'express'
import { imdsError } from './imds-problem.ts'

const forwarded = ['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto'] as const

/**
 * Keeps out requests that something in the container makes for others: those do not set the header `Metadata`, and
 * proxies tell that they forward (platform reference, section 20.1). A header given twice is joined by a comma.
 */
export const checkHeaders: RequestHandler = ({ headers }, _response, next) => {
  if (headers.metadata !== 'true')
    throw imdsError(403, 'The header Metadata must be given once, with the value true.', 'metadata-header-required')
  const name = forwarded.find((one) => one in headers)
  if (name) throw imdsError(403, `The header ${name} is not allowed.`, 'forwarded-header-not-allowed')
  next()
}
