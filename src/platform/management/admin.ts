import { stringifyExact } from '../../common/json.ts'
import type { Db } from '../base/database.ts'
import { PlatformError } from '../base/errors.ts'
import { createAdminActions } from './admin-actions.ts'
import { type AdminAnswer, type AdminCommandName, readAdminCommand } from './admin-command.ts'
import { createAdminLists } from './admin-lists.ts'

export interface AdminServices {
  readonly db: Db
  /** Epoch milliseconds. */
  readonly now: () => number
  /** The file that is the whole truth again at the next start. */
  readonly seedFile: string | undefined
  /** Is told when somebody may have come to be let in, or not to be any more. */
  readonly onChange?: (() => void) | undefined
}

/** Answers a command line. Rejects only when the records cannot be read or written. */
export type Admin = (args: readonly string[]) => Promise<AdminAnswer>

/** What is printed for people, and what for programs. */
interface Outcome {
  readonly lines: readonly string[]
  readonly json: unknown
}

type Run = (first: string, second: string) => Promise<Outcome>

/** The commands of administrators, wherever they are typed; they are the same in the platform and beside it. */
export function createAdmin({ db, now, seedFile, onChange }: AdminServices): Admin {
  const actions = createAdminActions(db, now)
  const lists = createAdminLists(db)

  const commands: Readonly<Record<AdminCommandName, Run>> = {
    async 'organization add'(organization) {
      await actions.addOrganization(organization)
      return { lines: [`organization ${organization} added`], json: { organization } }
    },
    async 'organization list'() {
      const rows = await lists.organizations()
      return { lines: rows.map(({ name }) => name), json: rows }
    },
    async 'project add'(organization, project) {
      await actions.addProject(organization, project)
      return { lines: [`project ${project} added to ${organization}`], json: { organization, project } }
    },
    async 'project list'(organization) {
      const rows = await lists.projects(organization)
      return { lines: rows.map(({ organization, project }) => `${organization}\t${project}`), json: rows }
    },
    async 'user add'(user) {
      return withKey(user, `user ${user} added`, await actions.addUser(user))
    },
    async 'user key'(user) {
      return withKey(user, `the key of ${user} is replaced`, await actions.replaceKey(user))
    },
    async 'user list'() {
      const rows = await lists.users()
      return { lines: rows.map(({ name, has_key }) => (has_key ? name : `${name}\tno key`)), json: rows }
    },
    async 'member add'(organization, user) {
      await actions.addMember(organization, user)
      return { lines: [`${user} is a member of ${organization} now`], json: { organization, user } }
    },
    async 'member remove'(organization, user) {
      await actions.removeMember(organization, user)
      return { lines: [`${user} is no member of ${organization} any more`], json: { organization, user } }
    },
    async 'member list'(organization) {
      const rows = await lists.members(organization)
      return { lines: rows.map(({ organization, user }) => `${organization}\t${user}`), json: rows }
    },
  }

  return async (args) => {
    const command = readAdminCommand(args)
    if ('code' in command) return command
    const { name, words, isJson } = command
    try {
      const [first, second] = words as readonly [string, string] // readAdminCommand has counted them
      const { lines, json } = await commands[name](first, second)
      const isList = name.endsWith(' list')
      if (!isList) onChange?.()
      const output = isJson ? `${stringifyExact(json)}\n` : lines.map((line) => `${line}\n`).join('')
      return { code: 0, output, error: isList || seedFile === undefined ? '' : notice(seedFile) }
    } catch (error) {
      if (!(error instanceof PlatformError)) throw error
      return { code: 1, output: '', error: `${error.message}\n` }
    }
  }
}

const withKey = (user: string, line: string, key: string): Outcome => ({
  lines: [line, `API key, shown this once: ${key}`],
  json: { user, api_key: key },
})

const notice = (seedFile: string): string =>
  `note: at the next start of the platform, ${seedFile} is the whole truth again about users, keys and members\n`
