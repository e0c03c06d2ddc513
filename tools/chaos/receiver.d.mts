import type { IncomingHttpHeaders } from 'node:http'

/** The head of a call, by which a receiver decides what to do. */
export interface CallHead {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly webhookId: string | undefined
  /** Of this webhook id at this path, from 1; of calls without an id at this path. */
  readonly attempt: number
  /** Epoch milliseconds. */
  readonly at: number
}

/** What came; the members after `status` are there once the whole body has come. */
export interface ReceivedCall extends CallHead {
  readonly bytes: number
  /** What it was answered; undefined: nothing. */
  readonly status: number | undefined
  readonly event?: string
  readonly promptId?: string
  readonly raw?: string
  readonly body?: Readonly<Record<string, unknown>>
  /** Whether the body is the same after parsing and writing it again. */
  readonly stable?: boolean
  /** Whether a signature is that of the secret; only where there is one. */
  readonly verified?: boolean
}

/**
 * A status to answer with; or `hang`: read all and answer nothing; `deaf`: not even read; `drop`: reset the connection
 * in the middle of the body; `slow`: read it in small steps, then answer 200.
 */
export type Behaviour =
  | number
  | { readonly status: number; readonly headers: Readonly<Record<string, string>> }
  | 'hang'
  | 'deaf'
  | 'drop'
  | 'slow'

export interface ReceiverOptions {
  /** Base64, with or without `whsec_`; without one signatures are not looked at. */
  readonly secret?: string
  readonly behave?: (call: CallHead) => Behaviour
  /** 0: a free one. */
  readonly port?: number
  /** Whether `raw` and `body` are kept. */
  readonly keepBodies?: boolean
}

export interface Receiver {
  readonly url: string
  /** In the order in which they came. */
  readonly calls: readonly ReceivedCall[]
  /** How many calls of each webhook id were answered 2xx. */
  accepted(): ReadonlyMap<string, number>
  close(): Promise<void>
}

export function startReceiver(options?: ReceiverOptions): Promise<Receiver>
