import { expect } from 'vitest'
import { bodyFaults } from './body-faults.ts'
import type { Fault, Operation } from './operation.ts'
import { withHeaders } from './requests.ts'

/** Everything that can be wrong with any operation of the metadata service, in the order of section 20.1. */
export function imdsFaults(operation: Operation, methods: readonly string[]): readonly Fault[] {
  const allowed = methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
  const others = ['DELETE', 'PATCH', 'OPTIONS', 'POST', 'GET'].filter((method) => !allowed.includes(method))
  const body = { size: 4, media: 5, validation: 6, most: 65_536, slug: 'invalid-request' }
  const header = (what: string, values: string | readonly string[] | undefined): Fault => ({
    ...{ what, kind: 'header', order: 1, status: 403, slug: 'metadata-header-required' },
    put: (asked) => withHeaders(asked, { metadata: values }),
  })
  return [
    header('no header Metadata', undefined),
    header('another value of Metadata', 'True'),
    header('Metadata given twice', ['true', 'true']),
    ...['X-Forwarded-For', 'X-Forwarded-Host', 'x-forwarded-proto'].map(
      (name, i): Fault => ({
        ...{ what: name, kind: 'forwarded', status: 403, slug: 'forwarded-header-not-allowed' },
        ...(i === 0 && { order: 1.5 }),
        put: (asked) => withHeaders(asked, { [name]: 'somebody' }),
      }),
    ),
    ...['/no/such/route', '/'].map(
      (end): Fault => ({
        ...{ what: `an unknown path that ends in ${end}`, kind: 'route', order: 2, status: 404, slug: 'not-found' },
        put: (asked) => ({ ...asked, path: `${asked.path}${end}` }),
      }),
    ),
    ...others.map(
      (method): Fault => ({
        ...{ what: method, kind: 'method', order: 2.5, status: 405 },
        also: ({ headers }) => expect((headers.allow ?? '').split(', ').sort()).toEqual([...allowed].sort()),
        put: (asked) => ({ ...asked, method }),
      }),
    ),
    {
      ...{ what: 'an instance that is gone', kind: 'instance', order: 3, status: 404, slug: 'container-not-found' },
      detail: 'The container instance could not be found.',
      put: (asked) => ({ ...asked, at: 'gone' }),
    },
    {
      ...{ what: 'a caller that is no instance', kind: 'instance', status: 404, slug: 'container-not-found' },
      put: (asked) => ({ ...asked, at: 'shared' }),
    },
    {
      ...{ what: 'records that are away', kind: 'away', status: 500, detail: 'Something unexpected happened.' },
      put: (asked) => ({ ...asked, at: 'away' }),
    },
    ...bodyFaults(operation, body),
  ]
}
