import { expect } from 'vitest'
import { fileListSchema, fileUrlSchema } from '../../../../src/contracts/platform/storage.ts'
import type { Answer } from '../ask.ts'
import { jsonOf } from '../bench.ts'
import type { Asked, Bound, Fault, Operation, Variant } from '../operation.ts'
import { STORAGE_URL } from '../platform.ts'
import { withHeaders, withParams, withQuery } from '../requests.ts'
import {
  aFile,
  aPath,
  CONTENT,
  FILE_TOKENS,
  FILES,
  FORM_TYPE,
  fileField,
  formOf,
  identityOf,
  MD5,
  ORGANIZATION_FILES,
  tokenFor,
} from './storage-fixtures.ts'

const storage = 'storage'

const missing: Fault = {
  ...{ what: 'a file that there is not', kind: 'file', order: 8, status: 404 },
  detail: 'The file could not be found.',
  put: async (asked, bench) => withParams(asked, await aPath(bench, bench.acme)),
}
const expired: Fault = {
  ...{ what: 'a file that is not kept any more', kind: 'file', status: 404, detail: 'The file could not be found.' },
  put: (asked) => ({ ...asked, laterMs: 2_592_000_000 }),
}
export const unknownAction: Fault = {
  ...{ what: 'an unknown action', kind: 'validation', order: 7, status: 400, detail: /^action: / },
  put: (asked) => ({ ...asked, query: 'action=mpu-nothing' }),
}

/** What instances use in place of a key. */
export const byIdentity: Variant = {
  what: 'an identity token',
  put: async (asked, bench) =>
    withHeaders(asked, {
      'service-api-key': undefined,
      authorization: `Bearer ${await identityOf(bench, 'acme')}`,
    }),
}

const urlOf = ({ params }: Asked): string => `${STORAGE_URL}/organizations/acme/files/${params.path}`
const TOKEN = /^\?token=[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[\da-f]{4}-[\da-f]{12}$/

/** The answer names the file, with a token when it is signed. */
function named(answer: Answer, asked: Asked, isSigned: boolean): void {
  const { url } = fileUrlSchema.parse(jsonOf(answer))
  expect(url.slice(0, urlOf(asked).length)).toBe(urlOf(asked))
  expect(url.slice(urlOf(asked).length)).toMatch(isSigned ? TOKEN : /^$/)
}

/** How long a signed URL works, as a member of a body says it. */
const seconds: Bound = {
  member: 'exp',
  accepted: ['60', '2592000', 60, 2_592_000],
  refused: ['59', '2592001', 59, 2_592_001, '60.5', 60.5, '', 'x', true],
}

type Field = readonly [name: string, value: string]

const form = (isSigned: boolean, ...fields: readonly Field[]): Variant => ({
  what: fields.map(([name, value]) => `${name}=${value}`).join(' '),
  put: (asked) => ({ ...asked, body: formOf(fileField, ...fields) }),
  after: (answer, asked) => named(answer, asked, isSigned),
})
const badForm = (what: string, detail: RegExp, body: Buffer, type = FORM_TYPE): Fault => ({
  ...{ what, kind: 'validation', order: 7, status: 400, detail },
  put: (asked) => withHeaders({ ...asked, body }, { 'content-type': type }),
})
const badField = (...fields: readonly Field[]): Fault => {
  const [name = '', value] = fields.at(-1) ?? []
  return badForm(`${name} ${value}`, new RegExp(`^${name}: `), formOf(fileField, ...fields))
}
const signed: Field = ['sign', 'true']
const LONG_NAME = 'x'.repeat(127)

/** What is known of a file beside its bytes (section 22.2). */
const bytes = ({ headers, bytes }: Answer): void => {
  expect(String(bytes)).toBe(CONTENT)
  expect(headers).toMatchObject({
    'content-type': 'image/png',
    'content-length': `${CONTENT.length}`,
    etag: `"${MD5}"`,
  })
}

/** Sections 22.2 to 22.4, but for uploads in parts. */
export const storageOperations: readonly Operation[] = [
  {
    ...{ surface: storage, method: 'POST', path: FILE_TOKENS, given: aFile, status: 200, answer: fileUrlSchema },
    ...{
      body: () => ({ method: 'GET', exp: '3600' }),
      mayLackBody: true,
      optional: ['method', 'exp'],
      invalid: ['exp', 'soon'],
    },
    bounds: [seconds, { member: 'method', accepted: ['GET'], refused: ['PUT', 'get', '', 1] }],
    faults: [missing, expired],
    variants: [
      byIdentity,
      {
        what: 'no body',
        put: ({ body: _body, ...asked }) => withHeaders(asked, { 'content-type': undefined }),
      },
    ],
    after: (answer, asked) => named(answer, asked, true),
  },
  {
    ...{ surface: storage, method: 'PUT', path: FILES, of: 'upload', given: aPath, status: 200 },
    ...{ answer: fileUrlSchema, type: FORM_TYPE, body: () => formOf(fileField) },
    faults: [
      badForm('a form without a file', /^file: /, formOf(['mimeType', 'image/png'])),
      badForm('a form with two files', /^file: /, formOf(fileField, fileField)),
      badForm('half a form', /./, formOf(fileField).subarray(0, -8)),
      badForm('a body that is no form', /./, Buffer.from('bytes'), 'application/octet-stream'),
      badForm('a form without its boundary', /./, formOf(fileField), 'multipart/form-data'),
      badField(['mimeType', 'png']),
      badField(['mimeType', '']),
      badField(['mimeType', 'image/png; q=1']),
      ...['59', '2592001', '60.5', '', 'x'].map((value) => badField(signed, ['signatureExp', value])),
      unknownAction,
    ],
    variants: [
      byIdentity,
      form(false, ['mimeType', `${LONG_NAME}/${LONG_NAME}`]),
      form(false, ['sign', 'false'], ['signatureExp', 'nonsense']),
      form(false, ['sign', ''], ['unheard_of', 'x']),
      form(true, ['sign', 'TRUE']),
      form(true, signed, ['signatureExp', '60']),
      form(true, signed, ['signatureExp', '2592000']),
    ],
    after: (answer) => void fileUrlSchema.parse(jsonOf(answer)),
  },
  {
    ...{ surface: storage, method: 'GET', path: FILES, given: aFile, status: 200, check: bytes },
    faults: [missing, expired],
    variants: [
      byIdentity,
      {
        what: 'the token of a signed URL alone',
        put: async (asked, bench) => {
          const token = await tokenFor(bench, asked.params.path ?? '')
          return withQuery(withHeaders(asked, { 'service-api-key': undefined }), `token=${token}`)
        },
      },
      {
        what: 'a token and a wrong key',
        put: async (asked, bench) => {
          const token = await tokenFor(bench, asked.params.path ?? '')
          return withQuery(withHeaders(asked, { 'service-api-key': 'key-of-nobody' }), `token=${token}`)
        },
      },
    ],
  },
  {
    ...{ surface: storage, method: 'DELETE', path: FILES, of: 'remove', given: aFile, status: 204 },
    faults: [unknownAction],
    variants: [
      byIdentity,
      {
        what: 'a file that there is not',
        put: async (asked, bench) => withParams(asked, await aPath(bench, bench.acme)),
      },
    ],
    async after(_answer, asked, bench) {
      expect((await bench.send({ ...asked, method: 'GET', query: '' })).status).toBe(404)
    },
  },
  {
    ...{ surface: storage, method: 'GET', path: ORGANIZATION_FILES, given: aFile, status: 200 },
    ...{ answer: fileListSchema, variants: [byIdentity] },
    after(answer) {
      const { files } = fileListSchema.parse(jsonOf(answer))
      const urls = files.map(({ url }) => decodeURIComponent(url))
      expect(urls).toEqual([...urls].sort())
      expect(files[0]).toMatchObject({ mimeType: 'image/png', size: CONTENT.length, etag: MD5 })
    },
  },
]
