import { readFileSync } from 'node:fs'
import type { Express } from 'express'
import { expect, it } from 'vitest'
import { silentLog } from '../../../src/common/log.ts'
import { type AppServices, createApp } from '../../../src/workload/http/app.ts'
import { openApiDocument } from '../../../src/workload/http/docs/document.ts'

/** What the router keeps of a route, or of a router at a path. */
interface Layer {
  readonly route?: { readonly path: string; readonly methods: Readonly<Record<string, boolean>> }
  readonly rawPath: string
  readonly handle: { readonly stack?: readonly Layer[] }
}

const routesOf = (stack: readonly Layer[], above = ''): readonly string[] =>
  stack.flatMap(({ route, rawPath, handle }) => {
    if (!route) return routesOf(handle.stack ?? [], rawPath === '/' ? above : above + rawPath)
    const path = (above + route.path).replace(/[:*](\w+)/g, '{$1}')
    return Object.keys(route.methods)
      .filter((method) => method !== '_all')
      .map((method) => `${method} ${path}`)
  })

/** The app without anything behind it: no request is made. */
function emptyApp(): Express {
  const parts = {
    jobs: {},
    desk: {},
    files: {},
    models: {},
    declarations: {},
    metrics: {},
    downloads: {},
    transcriptions: {},
  }
  const services = { ...parts, log: silentLog, maxBodyBytes: 1, jobIdHeader: '' }
  return createApp(services as unknown as AppServices)
}

it('has an operation for every route', () => {
  const { paths = {} } = openApiDocument()
  const documented = Object.entries(paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method} ${path}`),
  )
  const routes = new Set(routesOf((emptyApp().router as unknown as { readonly stack: readonly Layer[] }).stack))
  // ComfyUI's routes are there twice; those that differ below /api have operations of their own.
  const twin = (route: string) => route.replace(' /api/', ' /')
  const known = (route: string) => documented.includes(route) || documented.includes(twin(route))
  expect(routes.size).toBeGreaterThan(40)
  expect([...routes].filter((route) => !known(route) && !route.endsWith('/static/start.js'))).toEqual([])
  expect(documented.filter((route) => !routes.has(route))).toEqual([])
})

it('imports nothing of it before it is asked for', () => {
  const source = readFileSync('src/workload/http/routes/docs.ts', 'utf8')
  const imported = [...source.matchAll(/^import .* from '([^']+)'/gm)].map(([, from]) => from!)
  expect(imported.filter((from) => /zod|yaml|swagger|\/docs\//.test(from))).toEqual([])
})
