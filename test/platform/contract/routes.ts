import type { Express, Router } from 'express'
import type { ManagementRoutes } from '../../../src/platform/management/app.ts'
import { ORGANIZATION, PROJECT } from './bench.ts'

/** `{method} {path}` of everything that a router answers. */
function routesOf({ stack }: Pick<Router, 'stack'>, prefix = ''): readonly string[] {
  return stack.flatMap(({ route }) =>
    (route?.stack ?? []).flatMap(({ method }) =>
      // Without a method it is what refuses all others.
      method === undefined ? [] : `${method.toUpperCase()} ${prefix}${String(route?.path)}`,
    ),
  )
}

/** The same of the management API. */
export const managementRoutes = ({ open = [], organization, project = [] }: ManagementRoutes): readonly string[] => [
  ...open.flatMap((router) => routesOf(router)),
  ...organization.flatMap((router) => routesOf(router, ORGANIZATION)),
  ...project.flatMap((router) => routesOf(router, PROJECT)),
]

/** The same of an application without routers. */
export const appRoutes = ({ router }: Express): readonly string[] => routesOf(router)
