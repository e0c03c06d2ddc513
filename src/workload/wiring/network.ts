import { lookup } from 'node:dns'
import type { Config } from '../config.ts'
import { createIdentityToken } from '../instance/identity-token.ts'
import { addressGuard, guardedAgents } from '../media/address-guard.ts'
import { addressRules } from '../media/address-rules.ts'
import { createIdentify, type Identify } from '../media/identify.ts'
import { createOutbound, type Outbound } from '../media/outbound.ts'
import { ownHeaders } from '../media/own-headers.ts'
import { createS3Objects, type S3Objects } from '../media/s3-objects.ts'

/** Everything that leaves this machine goes through one of these. */
export interface Network {
  /** For URLs of clients. */
  readonly outbound: Outbound
  /** The same guard for clients that speak over Node's own HTTP. */
  readonly agents: ReturnType<typeof guardedAgents>
  /** For URLs of the operator, who may call whom he likes. */
  readonly trusted: Outbound
  /** Shows which instance of a platform this is. */
  readonly token: ReturnType<typeof createIdentityToken>
  /** Says who asks for a file. */
  readonly identify: Identify
  readonly objects: S3Objects
}

export function wireNetwork(config: Config): Network {
  const { authHeader, hfToken, metadataUri, outboundAllow, s3, s3AllowedBuckets, storage } = config
  const rules = addressRules(outboundAllow)
  const outbound = createOutbound(rules, lookup)
  const agents = guardedAgents(addressGuard(rules, lookup))
  const token = createIdentityToken(metadataUri, Date.now)
  return {
    outbound,
    agents,
    trusted: createOutbound(addressRules(['0.0.0.0/0', '::/0']), lookup),
    token,
    identify: createIdentify({ headersFor: ownHeaders({ authHeader, hfToken }), storage: { ...storage, token } }),
    objects: createS3Objects({ own: s3, allowedBuckets: s3AllowedBuckets, check: outbound.check, agents }),
  }
}
