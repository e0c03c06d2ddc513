import type { z } from 'zod'
import type { ProblemStatus } from '../../../src/contracts/platform/problem.ts'
import type { Answer } from './ask.ts'
import type { Bench, Scope } from './bench.ts'

export type Surface = 'management' | 'storage' | 'imds' | 'gateway'

/**
 * Which server of a surface: the usual one; one that has had all the requests of a minute; one whose quotas and action
 * limits are 0; one whose records are away; one whose instance is gone; one for all instances, who are known by their address.
 */
export type At = 'usual' | 'limited' | 'strict' | 'away' | 'gone' | 'shared'

/** What the parameters of a path stand for. */
export type Params = Readonly<Record<string, string>>

/** Makes what a path names, anew with every call, and resolves with its parameters beyond organization and project. */
export type Fixture = (bench: Bench, scope: Scope) => Promise<Params>

/** A request as the table knows it. */
export interface Asked {
  readonly surface: Surface
  readonly at: At
  readonly method: string
  readonly path: string
  readonly params: Params
  readonly query: string
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  /** Sent as it is when it is bytes, else as JSON. */
  readonly body?: unknown
  /** A length that is told in place of a body, in bytes. */
  readonly announced?: number
  /** How much later the request comes, for jobs and files, in milliseconds. */
  readonly laterMs?: number
}

/** One thing that can be wrong with a request, and what it is answered with. */
export interface Fault {
  readonly what: string
  /** Two faults of one kind cannot be in one request; of each kind the first one is put together with others. */
  readonly kind: string
  /** Its place in the order of checks (platform reference, section 4.3); without one it is not put together with others. */
  readonly order?: number
  readonly status: ProblemStatus
  /** Ends the `type` where the status alone does not. */
  readonly slug?: string
  readonly detail?: string | RegExp
  readonly also?: (answer: Answer) => void
  /** Puts it into a request that has nothing, or something else, wrong with it. */
  readonly put: (asked: Asked, bench: Bench) => Asked | Promise<Asked>
}

/** A member of a body with what is just allowed in it and what just is not (platform reference, section 8). */
export interface Bound {
  /** Its path in the body. */
  readonly member: string
  readonly accepted: readonly unknown[]
  readonly refused: readonly unknown[]
  /** More that is refused, such as values of another type: tried only where time does not matter, as is all of a rare bound. */
  readonly wrong?: readonly unknown[]
  readonly isRare?: boolean
  /** What the body needs besides for the member to be of effect. */
  readonly within?: object
}

/** Another request that succeeds. */
export interface Variant {
  readonly what: string
  readonly put: (asked: Asked, bench: Bench) => Asked | Promise<Asked>
  readonly after?: (answer: Answer, asked: Asked) => void
}

/** One operation of the contract. */
export interface Operation {
  readonly surface: Surface
  readonly method: string
  /** As routers write it, from the root of the surface. */
  readonly path: string
  /** What tells it from others of the same method and path. */
  readonly of?: string
  /** Nothing if not given. */
  readonly given?: Fixture
  readonly query?: string
  /** Of the request, where it is not the usual one of its method. */
  readonly type?: string
  /** A valid body, that of a resource which is not there yet. */
  readonly body?: (bench: Bench) => unknown
  readonly status: number
  /** The body of the answer; none if not given. */
  readonly answer?: z.ZodType
  /** Looks at a body that is no JSON. */
  readonly check?: (answer: Answer) => void
  readonly variants?: readonly Variant[]
  /** What else holds once it has been answered. */
  readonly after?: (answer: Answer, asked: Asked, bench: Bench) => Promise<void> | void
  /** Faults that other operations do not have. */
  readonly faults?: readonly Fault[]
  readonly bounds?: readonly Bound[]
  /** Paths of members without which a body is refused. */
  readonly required?: readonly string[]
  /** Paths of members that may be null. */
  readonly optional?: readonly string[]
  /** A member of the body, or a query parameter, with a value that it cannot have: stands for all of them where faults meet. */
  readonly invalid?: readonly [member: string, value: unknown]
  /** Whether a request may come without a body. */
  readonly mayLackBody?: boolean
  /** Whether a body with a member that nobody knows is refused. */
  readonly closed?: boolean
  readonly paged?: boolean
  /** What all requests that succeed are for, one after another, where each could not have its own: a fixture of its own. */
  readonly kept?: Fixture
  /** Resolves when what was kept takes the next change. */
  readonly settled?: (bench: Bench, params: Params) => Promise<void>
}

/** How an operation is called. */
export const titleOf = ({ surface, method, path, of }: Operation): string =>
  `${surface}: ${method} ${path.replace('/api/public/organizations/:organization', '…')}${of === undefined ? '' : ` (${of})`}`
