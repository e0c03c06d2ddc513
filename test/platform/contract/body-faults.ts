import { withMember } from './members.ts'
import type { Fault, Operation } from './operation.ts'
import { withHeaders } from './requests.ts'

/** Where the faults of a body stand in the order of checks of a surface, and how they are told there. */
export interface BodyOrder {
  readonly size: number
  readonly media: number
  readonly validation: number
  /** The largest body, in bytes. */
  readonly most: number
  /** Ends the `type` of a 400, where the status alone does not. */
  readonly slug?: string
}

/** Everything that can be wrong with the JSON body of any operation. */
export function bodyFaults(operation: Operation, order: BodyOrder): readonly Fault[] {
  const { body, method, required = [], invalid, closed = false, mayLackBody = false } = operation
  if (!body) return []
  const { slug, most } = order
  const media = { kind: 'media', order: order.media, status: 415 } as const
  const usual = method === 'PATCH' ? 'application/json' : 'application/merge-patch+json'
  const validation = { kind: 'validation', order: order.validation, status: 400, ...(slug && { slug }) } as const
  const raw = (what: string, bytes: string | Buffer): Fault => ({
    ...{ ...validation, what, detail: /^body: / },
    put: (asked) => ({ ...asked, body: Buffer.from(bytes) }),
  })
  const faults: Fault[] = [
    {
      ...{ what: 'a body that is too large', kind: 'size', order: order.size, status: 413 },
      put: (asked) => ({ ...asked, announced: most + 1 }),
    },
    ...['text/plain', usual, undefined].map(
      (type): Fault => ({
        ...{ ...media, what: `a body of type ${type ?? 'unknown'}` },
        put: (asked) => withHeaders(asked, { 'content-type': type }),
      }),
    ),
  ]
  if (invalid) {
    const [member, value] = invalid
    const put: Fault['put'] = (asked) => ({ ...asked, body: withMember(asked.body, member, value) })
    faults.push({ ...validation, what: `${member} ${JSON.stringify(value)}`, detail: names(member), put })
  }
  faults.push(
    raw('half a body', '{"name":'),
    ...(mayLackBody ? [] : [raw('an empty body', '')]),
    raw('a body that is a list', '[]'),
    raw('a body that is null', 'null'),
    raw('a body that is not UTF-8', Buffer.from('7b22ff22', 'hex')),
  )
  for (const member of required)
    for (const [what, value] of [
      ['no', undefined],
      ['null as', null],
    ] as const) {
      if (method === 'PATCH' && value === undefined) continue
      const put: Fault['put'] = (asked) => ({ ...asked, body: withMember(asked.body, member, value) })
      faults.push({ ...validation, what: `${what} ${member}`, detail: names(member), put })
    }
  if (closed)
    faults.push({
      ...{ ...validation, what: 'a member that nobody knows', detail: /unheard_of/ },
      put: (asked) => ({ ...asked, body: withMember(asked.body, 'unheard_of', 1) }),
    })
  return faults
}

/** A detail that begins with what is wrong with a member, with something in it, or with the object it is in. */
export const names = (member: string): RegExp =>
  new RegExp(`(^|; )${member.replace(/[.\\+*?^$()[\]{}|]/g, '\\$&')}(\\.[^:]+)?: `)
