import { Agent } from 'node:http'
import type { Database, Db } from '../../../src/platform/base/database.ts'
import { addTenant } from '../../support/platform-database.ts'
import { type Answer, ask } from './ask.ts'
import type { Asked, Fixture, Params } from './operation.ts'
import { openPlatform, type Platform } from './platform.ts'

/** An organization, a project of it, and the key of a member. */
export interface Scope {
  readonly organization: string
  readonly project: string
  readonly key: string
}

/** The platform, and what rows of the table need of it. */
export interface Bench extends Pick<Platform, 'tokens' | 'instances' | 'origins' | 'apps' | 'metadataAt' | 'held'> {
  readonly db: Db
  /** Whose requests the rows are, unless they say otherwise; another project of the same caller; one of somebody else. */
  readonly acme: Scope
  readonly aside: Scope
  readonly other: Scope
  /** A name that nothing has yet. */
  name(): string
  send(asked: Asked): Promise<Answer>
  /** Does something beside what is tested, `{method} {path under the organization}`; it must succeed. */
  does(scope: Scope, line: string, body?: unknown): Promise<Answer>
  /** What a fixture makes, once for every scope. */
  standing(given: Fixture, scope?: Scope): Promise<Params>
  close(): Promise<void>
}

/** A queue that is always there, in the project of `acme`. */
export const STANDING_QUEUE = 'standing'

/** Where operations of an organization are. */
export const ORGANIZATION = '/api/public/organizations/:organization'
export const PROJECT = `${ORGANIZATION}/projects/:project`

export async function openBench(database: Database, folder: string): Promise<Bench> {
  const { db } = database
  let ahead = 0
  const platform = await openPlatform(database, folder, () => Date.now() + ahead)
  const [one, two] = [await addTenant(db, 'acme'), await addTenant(db, 'other')]
  const aside = { ...one.project, id: crypto.randomUUID(), name: 'aside' }
  await db
    .insertInto('projects')
    .values({ ...aside, organization_id: one.organization.id, create_time: new Date() })
    .execute()
  const acme = { organization: 'acme', project: 'demo', key: one.key }
  const agent = new Agent({ keepAlive: true })
  const standing = new Map<Fixture, Map<string, Promise<Params>>>()
  let names = 0

  const originOf = ({ surface, at, params }: Asked): string => {
    const servers: Readonly<Record<string, string>> = platform.origins[surface]
    const origin = servers[at] ?? platform.metadataAt.get(params.instance ?? '')
    if (origin === undefined) throw new Error(`there is no ${surface} at ${at}`)
    return origin
  }
  const bench: Bench = {
    ...platform,
    ...{ db, acme, aside: { ...acme, project: 'aside' } },
    other: { organization: 'other', project: 'demo', key: two.key },
    name: () => `r${(++names).toString(36)}x`,
    async send(asked) {
      ahead = asked.laterMs ?? 0
      try {
        return await ask(agent, sentTo(originOf(asked), asked))
      } finally {
        ahead = 0
      }
    },
    async does({ organization, key }, line, body) {
      const [method = '', path = ''] = line.split(' ')
      const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
      const headers = { 'service-api-key': key, ...(body !== undefined && { 'content-type': type }) }
      const to = platform.origins.management.usual
      const content = body === undefined ? undefined : JSON.stringify(body)
      const whole = `/api/public/organizations/${organization}${path}`
      const answer = await ask(agent, { to, method, path: whole, headers, body: content })
      if (answer.status < 300) return answer
      throw new Error(`${line} was answered with ${answer.status}: ${answer.bytes}`)
    },
    standing(given, scope = acme) {
      const made = standing.get(given) ?? new Map<string, Promise<Params>>()
      standing.set(given, made)
      const which = `${scope.organization}/${scope.project}`
      const params = made.get(which) ?? given(bench, scope)
      made.set(which, params)
      return params
    },
    async close() {
      agent.destroy()
      await platform.close()
    },
  }
  await bench.does(acme, 'POST /projects/demo/queues', { name: STANDING_QUEUE })
  // From here on there have been all the requests of that minute.
  const { limited } = platform.origins.management
  const headers = { 'service-api-key': acme.key }
  await ask(agent, { to: limited, method: 'GET', path: '/api/public/organizations/acme/quotas', headers })
  return bench
}

function sentTo(to: string, { method, path, params, query, headers, body, announced }: Asked) {
  const fill = (template: string) => template.replace(/:(\w+)/g, (_all, name: string) => params[name] ?? '')
  const raw = body === undefined || Buffer.isBuffer(body) ? body : JSON.stringify(body)
  return {
    ...{ to, method, announced, path: query === '' ? fill(path) : `${fill(path)}?${fill(query)}` },
    // The gateway knows by the host what is asked.
    headers: { ...headers, ...(params.host !== undefined && { host: params.host }) },
    body: announced === undefined ? raw : undefined,
  }
}

/** The body of an answer, parsed. */
export const jsonOf = ({ bytes }: Answer): unknown => JSON.parse(String(bytes))
