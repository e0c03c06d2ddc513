import { type RequestHandler, Router } from 'express'
import { notFound, PlatformError } from '../base/errors.ts'

/** Routers, and the path under which they are mounted. */
export interface Mount {
  readonly prefix: string
  readonly routers: readonly Router[]
}

/**
 * Refuses what none of the routers would answer, before the key is looked at: unknown routes with 404, known ones asked
 * with another method with 405 (section 4.3). So routers need not refuse methods themselves.
 */
export function refuseUnknownRoutes(mounts: readonly Mount[]): RequestHandler {
  const known = Router()
  for (const { prefix, routers } of mounts)
    for (const { route } of routers.flatMap(({ stack }) => stack))
      if (route) known.all(`${prefix}${route.path}`, note(methodsOf(route.stack.map(({ method }) => method))))
  known.use(({ method }, { locals }, next) => {
    const allowed = locals.allowed as ReadonlySet<string> | undefined
    if (!allowed) throw notFound('resource')
    if (allowed.has(method)) return next()
    const names = [...allowed].join(', ')
    throw new PlatformError(405, `${method} is not allowed here, only ${names}.`, { headers: { allow: names } })
  })
  return known
}

/** Several routes may have one path: what each allows is added up. */
function note(methods: readonly string[]): RequestHandler {
  return (_request, { locals }, next) => {
    locals.allowed = new Set([...((locals.allowed as ReadonlySet<string> | undefined) ?? []), ...methods])
    next()
  }
}

const methodsOf = (names: readonly (string | undefined)[]): readonly string[] =>
  names.flatMap((name) => (name === undefined ? [] : name === 'get' ? ['GET', 'HEAD'] : [name.toUpperCase()]))
