import { parseArgs } from 'node:util'
import { messageOf } from '../base/errors.ts'

/** Everything that an administrator can ask for, with the words that must and may follow. */
export const adminCommands = {
  'organization add': ['NAME'],
  'organization list': [],
  'project add': ['ORGANIZATION', 'NAME'],
  'project list': ['[ORGANIZATION]'],
  'user add': ['NAME'],
  'user key': ['NAME'],
  'user list': [],
  'member add': ['ORGANIZATION', 'USER'],
  'member remove': ['ORGANIZATION', 'USER'],
  'member list': ['[ORGANIZATION]'],
} as const satisfies Readonly<Record<string, readonly string[]>>

export type AdminCommandName = keyof typeof adminCommands

/** A command that makes sense; whether it can be done, the records say. */
export interface AdminCommand {
  readonly name: AdminCommandName
  readonly words: readonly string[]
  readonly isJson: boolean
}

/** What a command came to: done, refused, or not understood; the texts go to standard output and standard error. */
export interface AdminAnswer {
  readonly code: 0 | 1 | 2
  readonly output: string
  readonly error: string
}

const help = `Usage: npm run --silent admin -- COMMAND [--json]

  organization add NAME              makes an organization
  organization list                  lists them
  project add ORGANIZATION NAME      makes a project in an organization
  project list [ORGANIZATION]        lists projects
  user add NAME                      makes a user and prints the API key, this once
  user key NAME                      replaces a user's API key and prints the new one; the old one ends at once
  user list                          lists users, and tells who has no key
  member add ORGANIZATION USER       lets a user into an organization and all its projects
  member remove ORGANIZATION USER    takes that back
  member list [ORGANIZATION]         lists who is let in

  --json                             answers in JSON, for programs
  -h, --help, help                   prints this

It reads the same variables as the platform: DATABASE_URL, or else PLATFORM_DATA_DIR, whose records it asks the platform
to change while it runs. Keys are stored as digests: one that is lost is replaced.

With PLATFORM_SEED, the seed is the whole truth again whenever the platform starts: users that it does not name lose
their keys, and memberships are those that it names. Make lasting changes in that file, or start without one.

Exit codes: 0 done, 1 refused or failed, 2 not understood.
`

/** Reads a command line. Resolves at once with an answer where no records are needed for it. */
export function readAdminCommand(args: readonly string[]): AdminCommand | AdminAnswer {
  try {
    const { positionals, values } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { json: { type: 'boolean', default: false }, help: { type: 'boolean', short: 'h', default: false } },
    })
    if (values.help || args.length === 0 || positionals[0] === 'help') return { code: 0, output: help, error: '' }
    const [noun = '', verb = '', ...words] = positionals
    const name = `${noun} ${verb}`.trim()
    if (!isCommand(name)) return misunderstood(`there is no command "${name}"`)
    const expected: readonly string[] = adminCommands[name]
    const least = expected.filter((word) => !word.startsWith('[')).length
    if (words.length < least || words.length > expected.length)
      return misunderstood(`"${name}" is followed by ${expected.join(' ') || 'nothing'}`)
    return { name, words, isJson: values.json }
  } catch (error) {
    return misunderstood(messageOf(error)) // of parseArgs: an option that there is not
  }
}

const isCommand = (name: string): name is AdminCommandName => Object.hasOwn(adminCommands, name)

const misunderstood = (reason: string): AdminAnswer => ({
  code: 2,
  output: '',
  error: `${reason}\nTry: npm run admin -- --help\n`,
})
