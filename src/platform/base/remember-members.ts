import type { Members } from './members.ts'

/** Keys that come in with requests are many only where somebody tries them out, and those are not remembered. */
const MOST = 10_000

/** Answers that were asked for before. */
export interface RememberedMembers extends Members {
  /** To be called when users, memberships, organizations or projects have changed. */
  forget(): void
}

/**
 * Spares the records four questions a request. Only for a process that makes all changes itself: a key that was replaced
 * must open nothing from then on. Nothing that was not found is remembered.
 */
export function rememberMembers(members: Members): RememberedMembers {
  const known = new Map<string, unknown>()
  let changes = 0

  async function once<T>(question: readonly string[], ask: () => Promise<T | undefined>): Promise<T | undefined> {
    const key = question.join('\n') // neither names nor keys in headers hold a line feed
    const answer = known.get(key) as T | undefined
    if (answer !== undefined) return answer
    const before = changes
    const found = await ask()
    if (!found || changes !== before) return found
    if (known.size >= MOST) known.clear()
    known.set(key, found)
    return found
  }
  return {
    userOf: (key) => once(['key', key], () => members.userOf(key)),
    organization: (name) => once(['organization', name], () => members.organization(name)),
    isMember: async (user, organization) =>
      (await once(
        ['member', user, organization],
        async () => (await members.isMember(user, organization)) || undefined,
      )) ?? false,
    project: (organization, name) => once(['project', organization, name], () => members.project(organization, name)),
    forget() {
      changes++
      known.clear()
    },
  }
}
