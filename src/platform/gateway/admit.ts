import type { IncomingMessage } from 'node:http'
import { notFound, PlatformError } from '../base/errors.ts'
import type { GatewayGroup } from './group.ts'
import type { OnPiece } from './pump.ts'

/** Who may send what to whom. */
export interface AdmitServices {
  /** The group whose `networking.dns` is this host, given in lower case and without a port. */
  findGroup(host: string): Promise<GatewayGroup | undefined>
  /** Whether the key is that of a member of the organization. */
  isMember(apiKey: string, organizationId: string): Promise<boolean>
}

/** The group that a request is for. Throws 404, 403 and 413, in this order (platform reference, section 23). */
export async function admit(
  { headers }: IncomingMessage,
  { findGroup, isMember }: AdmitServices,
  maxBody: number,
): Promise<GatewayGroup> {
  const host = (headers.host ?? '').replace(/:\d*$/, '').toLowerCase()
  const group = host === '' ? undefined : await findGroup(host)
  if (!group) throw notFound('container group')
  if (group.networking.auth) {
    const key = headers['service-api-key']
    if (typeof key !== 'string' || !(await isMember(key, group.organization_id)))
      throw new PlatformError(403, 'The header Service-Api-Key must hold the key of a member of the organization.')
  }
  if (Number(headers['content-length'] ?? 0) > maxBody) throw tooLarge(maxBody)
  return group
}

/** Throws 413 when there are more bytes than that, however few the head of the request told. */
export function atMost(bytes: number): OnPiece {
  let left = bytes
  return (piece) => {
    left -= piece.length
    if (left < 0) throw tooLarge(bytes)
  }
}

const tooLarge = (bytes: number) => new PlatformError(413, `The request body is larger than ${bytes} bytes.`)
