import { timingSafeEqual } from 'node:crypto'
import type { Request } from 'express'
import { PlatformError } from '../base/errors.ts'
import { digestOf } from '../base/keys.ts'
import type { Members, Organization } from '../base/members.ts'
import { checkedPath, namedBy, type Place, under } from './place.ts'
import type { Signatures } from './signatures.ts'

/** The claims of a valid identity token, undefined for one that is not (section 21). */
export type VerifyToken = (jwt: string) => Promise<{ readonly organization_name: string } | undefined>

export interface AccessDeps {
  readonly members: Members
  readonly signatures: Signatures
  readonly verifyToken: VerifyToken
}

/** Decides who may do what (section 22.1). */
export interface Access {
  /** The organization of the request. Throws 401, and 400 for two tokens. */
  organization(request: Request): Promise<Organization>
  /** The same with the file's place. Throws 400 for a path that no file may have, but to those with access only. */
  place(request: Request): Promise<Place>
}

const refused = (reason: string) => new PlatformError(401, reason)

/** The first credential that is there decides: `token`, `Service-Api-Key`, `Authorization: Bearer`. */
export function createAccess({ members, signatures, verifyToken }: AccessDeps): Access {
  const byToken = async (token: string, request: Request, found: Organization | undefined) => {
    const opened = await signatures.find(token)
    if (!opened) throw refused('Invalid access token.')
    const isPlace = opened.organizationId === found?.id && opened.path === namedBy(request).path
    if (!found || !isPlace) throw refused('Access denied.')
    const reads = request.method === 'GET' || request.method === 'HEAD'
    if (!reads || !under('files').test(request.path)) throw refused('Invalid method.')
    return found
  }

  const byKey = async (key: string | readonly string[], found: Organization | undefined) => {
    const user = typeof key === 'string' && key !== '' ? await members.userOf(key) : undefined
    if (user && found && (await members.isMember(user.id, found.id))) return found
    throw refused('The key is unknown, or its user is not a member of the organization.')
  }

  const byIdentity = async (jwt: string, found: Organization | undefined) => {
    const claims = await verifyToken(jwt)
    if (claims && found && isSame(claims.organization_name, found.name)) return found
    throw refused('The identity token is not valid for the organization.')
  }

  const organization = async (request: Request): Promise<Organization> => {
    const { token } = request.query
    if (token !== undefined && typeof token !== 'string') throw new PlatformError(400, 'token: must be given once')
    const found = await named(members, namedBy(request).organization)
    if (token !== undefined) return byToken(token, request, found)
    const { 'service-api-key': key, authorization = '' } = request.headers
    if (key !== undefined) return byKey(key, found)
    const [, jwt] = /^Bearer +(\S+) *$/i.exec(authorization) ?? []
    if (jwt === undefined) throw refused('A key, an identity token or the token of a signed URL is required.')
    return byIdentity(jwt, found)
  }

  return {
    organization,
    async place(request) {
      return { organization: await organization(request), path: checkedPath(namedBy(request).path) }
    },
  }
}

const named = async (members: Members, name: string | undefined): Promise<Organization | undefined> =>
  // The database takes no NUL in a text; no name has one.
  name === undefined || name.includes('\0') ? undefined : members.organization(name)

/** Digests, because the comparison needs equal lengths. */
const isSame = (one: string, other: string): boolean =>
  timingSafeEqual(Buffer.from(digestOf(one)), Buffer.from(digestOf(other)))
