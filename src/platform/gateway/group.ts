import type { GroupDefinition } from '../../contracts/platform/container-group.ts'

/** How requests for a group are passed on (platform reference, section 8.7). */
export type Networking = Pick<
  NonNullable<GroupDefinition['networking']>,
  'auth' | 'load_balancer' | 'client_request_timeout' | 'server_response_timeout' | 'single_connection_limit'
>

/** A container group as the gateway knows it. */
export interface GatewayGroup {
  readonly id: string
  readonly organization_id: string
  readonly networking: Networking
}

/** An instance that is running and ready, and where its application listens on this machine. */
export interface Target {
  readonly id: string
  readonly port: number
}
