import { createHash, randomUUID } from 'node:crypto'
import { fileUrlSchema } from '../../../../src/contracts/platform/storage.ts'
import { type Bench, jsonOf, type Scope } from '../bench.ts'
import type { Asked, Fixture } from '../operation.ts'

export const ORGANIZATION_FILES = '/organizations/:organization/files'
export const FILES = `${ORGANIZATION_FILES}/:path`
export const FILE_TOKENS = '/organizations/:organization/file_tokens/:path'
export const FILE_PARTS = '/organizations/:organization/file_parts/:path'

/** What every file and part holds here. */
export const CONTENT = 'the content of a file'
export const MD5 = createHash('md5').update(CONTENT).digest('hex')

export const FORM_TYPE = 'multipart/form-data; boundary=edge'

/** A form of these fields; a file is whatever is bytes. */
export const formOf = (...fields: readonly (readonly [name: string, value: string | Buffer])[]): Buffer =>
  Buffer.concat(
    fields
      .flatMap(([name, value]) => [
        `--edge\r\nContent-Disposition: form-data; name="${name}"${Buffer.isBuffer(value) ? '; filename="f"' : ''}\r\n\r\n`,
        value,
        '\r\n',
      ])
      .concat('--edge--\r\n')
      .map((part) => Buffer.from(part)),
  )

export const fileField = ['file', Buffer.from(CONTENT)] as const

/** Asks the storage API for something beside what is tested, as a member. */
async function does(
  bench: Bench,
  { organization, key }: Scope,
  asked: Pick<Asked, 'method' | 'path'> & Partial<Asked>,
) {
  const answer = await bench.send({
    ...{ surface: 'storage', at: 'usual', query: '', ...asked },
    params: { organization, ...asked.params },
    headers: { 'service-api-key': key, ...asked.headers },
  })
  if (answer.status < 300) return answer
  throw new Error(`${asked.method} ${asked.path} was answered with ${answer.status}: ${answer.bytes}`)
}

const upload = async (bench: Bench, scope: Scope, path: string): Promise<void> => {
  const body = formOf(fileField, ['mimeType', 'image/png'])
  const headers = { 'content-type': FORM_TYPE }
  await does(bench, scope, { method: 'PUT', path: FILES, params: { path }, headers, body })
}

/** A file in two folders, a PNG by its name. */
export const aFile: Fixture = async (bench, scope) => {
  const path = `inputs/${bench.name()}/a%20cat.png`
  await upload(bench, scope, path)
  return { path }
}

/** A path under which there is nothing. */
export const aPath: Fixture = async (bench) => ({ path: `inputs/${bench.name()}/new.png` })

/** The token of a signed URL for reading a file, which is there from then on. */
export async function tokenFor(bench: Bench, path: string, scope = bench.acme): Promise<string> {
  await upload(bench, scope, path)
  const signed = await does(bench, scope, { method: 'POST', path: FILE_TOKENS, params: { path } })
  return new URL(fileUrlSchema.parse(jsonOf(signed)).url).searchParams.get('token') ?? ''
}

/** An identity token of an instance of an organization. */
export const identityOf = ({ tokens }: Bench, organization_name: string): Promise<string> =>
  tokens.issue({
    machine_id: randomUUID(),
    workload_id: randomUUID(),
    workload_name: 'workload',
    organization_id: randomUUID(),
    organization_name,
  })

/** A multipart upload with one part. */
export const anUpload: Fixture = async (bench, scope) => {
  const path = `parts/${bench.name()}.bin`
  const params = { path }
  const begun = await does(bench, scope, { method: 'PUT', path: FILES, params, query: 'action=mpu-create' })
  const { uploadId: upload } = jsonOf(begun) as { readonly uploadId: string }
  const query = `partNumber=1&uploadId=${upload}`
  await does(bench, scope, { method: 'PUT', path: FILE_PARTS, params, query, body: Buffer.from(CONTENT) })
  return { path, upload }
}
