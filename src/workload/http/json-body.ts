import express, { type Request, type RequestHandler } from 'express'
import { parseExact } from '../../common/json.ts'
import { WorkloadError } from '../base/errors.ts'

/**
 * Parses a JSON body of at most `limit` bytes, without losing a digit of a 64-bit integer. Scripts for ComfyUI say that
 * their JSON is a form, or nothing: what is for our own clients alone must ask for `requireJson` too.
 */
export function jsonBody(limit: number): RequestHandler[] {
  return [requireJsonOrForm, textOf(limit), parse]
}

/** The same, but nothing stands for an empty object: ComfyUI's clients send commands without a body. */
export function commandBody(limit: number): RequestHandler[] {
  const orEmpty: RequestHandler = (request, _response, next) => {
    if (typeof request.body !== 'string' || request.body === '') request.body = '{}'
    next()
  }
  return [requireJsonOrForm, textOf(limit), orEmpty, parse]
}

/** Refuses a body that is not declared as JSON. */
export const requireJson: RequestHandler = (request, _response, next) => {
  if (!isDeclaredJson(request)) throw notJson()
  next()
}

const textOf = (limit: number) => express.text({ type: () => true, limit, defaultCharset: 'utf-8' })

const isDeclaredJson = (request: Request): boolean => request.is(['application/json', 'application/*+json']) !== false

const requireJsonOrForm: RequestHandler = (request, _response, next) => {
  const { 'content-type': type } = request.headers
  if (type !== undefined && !isDeclaredJson(request) && !request.is('application/x-www-form-urlencoded'))
    throw notJson()
  next()
}

const parse: RequestHandler = (request, _response, next) => {
  const text: unknown = request.body
  try {
    request.body = parseExact(typeof text === 'string' ? text : '')
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    if (!isDeclaredJson(request)) throw notJson()
    throw new WorkloadError('invalid-json', `the body is not valid JSON: ${error.message}`, { cause: error })
  }
  next()
}

const notJson = () => new WorkloadError('unsupported-media-type', 'send the body with Content-Type: application/json')
