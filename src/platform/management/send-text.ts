import type { Response } from 'express'

/** Ends an answer with JSON that is text already. */
export function sendText(response: Response, text: string): void {
  response.setHeader('content-type', 'application/json') // Express would add a character set
  response.end(text)
}

/** Answers 201, with the address of what was made: its id or name behind the collection's own address. */
export function announce(response: Response, baseUrl: string, name: string): Response {
  const { originalUrl } = response.req
  const path = originalUrl.split('?', 1)[0]!.replace(/\/$/, '')
  return response.status(201).setHeader('location', `${baseUrl}${path}/${name}`)
}
