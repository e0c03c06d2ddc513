import { expect } from 'vitest'
import { begunUploadSchema, fileUrlSchema, takenPartSchema } from '../../../../src/contracts/platform/storage.ts'
import { jsonOf } from '../bench.ts'
import { list } from '../bounds.ts'
import type { Fault, Operation, Variant } from '../operation.ts'
import { withHeaders, withParams } from '../requests.ts'
import { byIdentity, unknownAction } from './storage.ts'
import { anUpload, aPath, CONTENT, FILE_PARTS, FILES, MD5 } from './storage-fixtures.ts'

const storage = 'storage'
const NOBODYS = '8eb6de1b-b313-4169-8411-39860ebc73ab'

/** What can be wrong with the id of an upload in a query that goes on with it. */
const idFaults = (query: string): readonly Fault[] => {
  const bad = (what: string, id: string, isFirst = false): Fault => ({
    ...{ what: `${what} uploadId`, kind: 'validation', status: 400, detail: /^uploadId: / },
    ...(isFirst && { order: 7 }),
    put: (asked) => ({ ...asked, query: `${query}${id}` }),
  })
  return [
    bad('an unknown', `&uploadId=${NOBODYS}`, true),
    bad('no', ''),
    bad('an empty', '&uploadId='),
    bad('a malformed', '&uploadId=A%00'),
    {
      ...{ what: 'the upload of another file', kind: 'validation', status: 400, detail: /^uploadId: / },
      put: async (asked, bench) => withParams(asked, await aPath(bench, bench.acme)),
    },
    {
      ...{ what: 'an upload that has expired', kind: 'validation', status: 400, detail: /^uploadId: / },
      put: (asked) => ({ ...asked, laterMs: 7 * 86_400_000 }),
    },
  ]
}

const PART = 'partNumber=1'
const number = (value: string): Fault => ({
  ...{ what: `part ${value}`, kind: 'validation', status: 400, detail: /^partNumber: / },
  put: (asked) => ({ ...asked, query: `${value}&uploadId=:upload` }),
})
const numbered = (value: number): Variant => ({
  what: `part ${value}`,
  put: (asked) => ({ ...asked, query: `partNumber=${value}&uploadId=:upload` }),
  after: (answer) => expect(jsonOf(answer)).toEqual({ partNumber: value, etag: MD5 }),
})

const completing = 'action=mpu-complete'
const parts = (what: string, value: readonly object[]): Fault => ({
  ...{ what, kind: 'validation', status: 400, detail: /^parts: / },
  put: (asked) => ({ ...asked, body: { parts: value } }),
})
const part = { partNumber: 1, etag: MD5 }

/** Uploads in parts, of section 22.2. */
export const uploadOperations: readonly Operation[] = [
  {
    ...{ surface: storage, method: 'PUT', path: FILES, of: 'mpu-create', given: aPath, query: 'action=mpu-create' },
    ...{ status: 200, answer: begunUploadSchema, variants: [byIdentity], faults: [unknownAction] },
  },
  {
    ...{ surface: storage, method: 'PUT', path: FILE_PARTS, given: anUpload, query: `${PART}&uploadId=:upload` },
    ...{ status: 200, answer: takenPartSchema, type: 'image/png', body: () => Buffer.from(CONTENT) },
    variants: [
      byIdentity,
      { what: 'no media type', put: (asked) => withHeaders(asked, { 'content-type': undefined }) },
      numbered(1),
      numbered(10_000),
    ],
    faults: [
      ...idFaults(PART),
      ...['partNumber=0', 'partNumber=10001', 'partNumber=1.5', 'partNumber=', 'partNumber=x', 'x=1'].map(number),
      {
        ...{ what: 'an empty part', kind: 'validation', status: 400, detail: /^body: / },
        put: (asked) => ({ ...asked, body: Buffer.alloc(0) }),
      },
    ],
  },
  {
    ...{ surface: storage, method: 'PUT', path: FILES, of: 'mpu-complete', given: anUpload, status: 200 },
    ...{ query: `${completing}&uploadId=:upload`, answer: fileUrlSchema, body: () => ({ parts: [part] }) },
    ...{ required: ['parts', 'parts.0.partNumber', 'parts.0.etag'], invalid: ['parts', 1], variants: [byIdentity] },
    bounds: [{ ...list('parts', [1, 10_000], () => part), accepted: [] }],
    faults: [
      ...idFaults(completing).filter(({ order }) => order === undefined),
      parts('numbers that do not rise', [part, part]),
      parts('a part that there is not', [part, { ...part, partNumber: 2 }]),
      parts('a part of another etag', [{ ...part, etag: '0'.repeat(32) }]),
      {
        ...parts('a part that is too small', []),
        async put(asked, bench) {
          const { body: _body, ...rest } = asked
          const query = `partNumber=2&uploadId=:upload`
          await bench.send({ ...rest, path: FILE_PARTS, query, body: Buffer.from(CONTENT) })
          return { ...asked, body: { parts: [part, { ...part, partNumber: 2 }] } }
        },
      },
    ],
    after: ({ headers }) => expect(headers.etag).toMatch(/^"[\da-f]{32}-1"$/),
  },
  {
    ...{ surface: storage, method: 'DELETE', path: FILES, of: 'mpu-abort', given: anUpload, status: 204 },
    ...{ query: 'action=mpu-abort&uploadId=:upload', variants: [byIdentity] },
    faults: [...idFaults('action=mpu-abort'), unknownAction],
  },
]
