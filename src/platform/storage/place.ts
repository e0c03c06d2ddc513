import type { Request } from 'express'
import { PlatformError } from '../base/errors.ts'
import type { Organization } from '../base/members.ts'

/** Bytes of a path in UTF-8. */
const LONGEST_PATH = 1024

/** Where a file is. */
export interface Place {
  readonly organization: Organization
  readonly path: string
}

/** What the path of a request names; undefined for what is no valid escape. */
export interface Named {
  readonly organization: string | undefined
  readonly path: string | undefined
}

/** Addresses `/organizations/{org}/{resource}/{filename+}`. */
export const under = (resource: 'files' | 'file_tokens' | 'file_parts'): RegExp =>
  new RegExp(`^/organizations/[^/]+/${resource}/.`)

/** The address `/organizations/{org}/files`. */
export const fileList = /^\/organizations\/[^/]+\/files$/

/** Reads a path that one of the addresses above has matched. */
export function namedBy(request: Request): Named {
  const [, , organization = '', , ...segments] = request.path.split('/')
  return { organization: decoded(organization), path: decoded(segments.join('/')) }
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch (error) {
    if (error instanceof URIError) return undefined
    throw error
  }
}

/** The path of a file. Throws 400 for one that no file may have (section 22.1). */
export function checkedPath(path: string | undefined): string {
  if (path === undefined) throw new PlatformError(400, 'filename: must be percent-encoded UTF-8')
  const bytes = Buffer.byteLength(path)
  if (bytes < 1 || bytes > LONGEST_PATH) throw new PlatformError(400, `filename: must have 1 to ${LONGEST_PATH} bytes`)
  if (path.split('/').some((segment) => ['', '.', '..'].includes(segment)))
    throw new PlatformError(400, 'filename: must not have empty, "." or ".." segments')
  if (/\p{Cc}/u.test(path)) throw new PlatformError(400, 'filename: must not have control characters')
  return path
}

/** The address of a file, without a token. */
export const urlOf = (publicUrl: string, { organization, path }: Place): string =>
  `${publicUrl}/organizations/${organization.name}/files/${path.split('/').map(encodeURIComponent).join('/')}`
