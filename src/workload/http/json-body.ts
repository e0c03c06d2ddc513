import express, { type RequestHandler } from 'express'
import { WorkloadError } from '../base/errors.ts'
import { parseExact } from '../base/json.ts'

/** Parses a JSON body of at most `limit` bytes, without losing a digit of a 64-bit integer. */
export function jsonBody(limit: number): RequestHandler[] {
  return [requireJson, express.text({ type: () => true, limit, defaultCharset: 'utf-8' }), parse]
}

const requireJson: RequestHandler = (request, _response, next) => {
  if (request.is(['application/json', 'application/*+json']) === false)
    throw new WorkloadError('unsupported-media-type', 'send the body with Content-Type: application/json')
  next()
}

const parse: RequestHandler = (request, _response, next) => {
  const text: unknown = request.body
  try {
    request.body = parseExact(typeof text === 'string' ? text : '')
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new WorkloadError('invalid-json', `the body is not valid JSON: ${error.message}`, { cause: error })
  }
  next()
}
