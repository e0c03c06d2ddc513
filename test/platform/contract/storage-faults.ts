import { expect } from 'vitest'
import { bodyFaults } from './body-faults.ts'
import type { Fault, Operation } from './operation.ts'
import { identityOf, tokenFor } from './operations/storage-fixtures.ts'
import { withHeaders, withParams, withQuery } from './requests.ts'

/** Of one request body, in bytes. */
const MOST = 104_857_600
const ELSEWHERE = '8eb6de1b-b313-4169-8411-39860ebc73ab'

/** Everything that can be wrong with any operation of the storage API, in the order of section 22.1. */
export function storageFaults(operation: Operation, methods: readonly string[]): readonly Fault[] {
  const { path, body, type, faults = [] } = operation
  const isJson = body !== undefined && type === undefined
  return [
    ...routeFaults(path, methods),
    ...credentialFaults,
    ...tokenFaults(operation),
    ...(path.includes(':path') ? pathFaults : []),
    ...(isJson ? bodyFaults(operation, { size: 5, media: 6, validation: 7, most: MOST }) : []),
    ...(body && !isJson ? [tooLarge] : []),
    ...faults,
  ]
}

function routeFaults(path: string, methods: readonly string[]): readonly Fault[] {
  const allowed = [...methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])), 'OPTIONS']
  const others = ['POST', 'PATCH', 'PUT', 'DELETE', 'GET'].filter((method) => !allowed.includes(method))
  return [
    {
      ...{ what: 'an unknown route', kind: 'route', status: 404 },
      put: (asked) => ({ ...asked, path: `/nowhere${path}` }),
    },
    ...others.map(
      (method): Fault => ({
        ...{ what: method, kind: 'method', order: 1, status: 405 },
        also: ({ headers }) => expect((headers.allow ?? '').split(', ').sort()).toEqual([...allowed].sort()),
        put: (asked) => ({ ...asked, method }),
      }),
    ),
    {
      ...{ what: 'two tokens', kind: 'token', order: 2, status: 400, detail: /^token: / },
      put: (asked) => withQuery(asked, `token=${ELSEWHERE}&token=${ELSEWHERE}`),
    },
  ]
}

const denied = (what: string, put: Fault['put'], detail?: string): Fault => ({
  ...{ what, kind: 'credential', order: 3, status: 401, put, ...(detail !== undefined && { detail }) },
})
const without = { 'service-api-key': undefined }

/** Whatever is wrong with who asks, and an organization that there is not, is told in the same way. */
const credentialFaults: readonly Fault[] = [
  denied('no credential', (asked) => withHeaders(asked, without)),
  denied('an empty key', (asked) => withHeaders(asked, { 'service-api-key': '' })),
  denied('a wrong key', (asked) => withHeaders(asked, { 'service-api-key': 'key-of-nobody' })),
  denied('an unknown organization', (asked) => withParams(asked, { organization: 'nowhere' })),
  denied('a malformed organization', (asked) => withParams(asked, { organization: 'A%00' })),
  denied('an organization of others', (asked, { other }) => withParams(asked, { organization: other.organization })),
  denied('a wrong key beside a good identity', async (asked, bench) =>
    withHeaders(asked, {
      'service-api-key': 'key-of-nobody',
      authorization: `Bearer ${await identityOf(bench, 'acme')}`,
    }),
  ),
  denied('no identity', (asked) => withHeaders(asked, { ...without, authorization: 'Bearer e30.e30.e30' })),
  denied('another scheme', (asked) => withHeaders(asked, { ...without, authorization: 'Basic YTpi' })),
  denied('an identity of others', async (asked, bench) =>
    withHeaders(asked, { ...without, authorization: `Bearer ${await identityOf(bench, 'other')}` }),
  ),
  {
    ...{ what: 'records that are away', kind: 'away', status: 500, detail: 'Something unexpected happened.' },
    put: (asked) => ({ ...asked, at: 'away' }),
  },
]

/** The token of a signed URL opens one file for reading, and nothing else (section 22.1). */
function tokenFaults({ method, path }: Operation): readonly Fault[] {
  const reads = method === 'GET' && path.endsWith('/files/:path')
  return [
    denied('an unknown token', (asked) => withQuery(asked, `token=${ELSEWHERE}`), 'Invalid access token.'),
    denied('no token in its place', (asked) => withQuery(asked, 'token='), 'Invalid access token.'),
    denied(
      'the token of another file',
      async (asked, bench) => withQuery(asked, `token=${await tokenFor(bench, 'elsewhere.png')}`),
      'Access denied.',
    ),
    denied(
      'a token of another organization',
      async (asked, bench) => withQuery(asked, `token=${await tokenFor(bench, asked.params.path ?? '', bench.other)}`),
      'Access denied.',
    ),
    ...(reads
      ? [
          denied(
            'a token that has expired',
            async (asked, bench) => ({
              ...withQuery(asked, `token=${await tokenFor(bench, asked.params.path ?? '')}`),
              laterMs: 2_592_000_000,
            }),
            'Invalid access token.',
          ),
        ]
      : []),
    ...(reads || !path.includes(':path')
      ? []
      : [
          denied(
            'a token, which lets nobody do this',
            async (asked, bench) => withQuery(asked, `token=${await tokenFor(bench, asked.params.path ?? '')}`),
            'Invalid method.',
          ),
        ]),
  ]
}

/** Files cannot have these paths. */
const pathFaults: readonly Fault[] = [
  ...['a//b', 'a/', '/a', './a', 'a/../b', '..', 'a%2F..%2Fb', 'a%00', 'a%0Ab', '%C2%85', 'a%zz', '%FF'],
  ...['x'.repeat(1025), `${'%C3%A4'.repeat(512)}x`],
].map((path) => ({
  ...{ what: `the path ${path.slice(0, 20)}`, kind: 'path', order: 4, status: 400, detail: /^filename: / },
  put: (asked) => withParams(asked, { path }),
}))

const tooLarge: Fault = {
  ...{ what: 'a body that is too large', kind: 'size', order: 5, status: 413 },
  put: (asked) => ({ ...asked, announced: MOST + 1 }),
}
