import { type OwnHeader, ownHeaderFor } from '../base/own-header.ts'
import type { HeadersFor } from './outbound.ts'

/** What this server shows of itself to hosts it was told to trust. */
export interface OwnIdentity {
  readonly authHeader: OwnHeader
  /** For huggingface.co, over https, and for no other host. */
  readonly hfToken: string | undefined
}

/** The headers with which this server fetches when who asks shows nothing: decided for each host, also behind redirects. */
export function ownHeaders({ authHeader, hfToken }: OwnIdentity): HeadersFor {
  return (url) => ({
    ...(hfToken !== undefined && url.origin === 'https://huggingface.co' && { authorization: `Bearer ${hfToken}` }),
    ...ownHeaderFor(authHeader, url),
  })
}
