/** Whether one of `patterns`, in which `*` stands for anything, is `name`; letters count the same in both cases. */
export function isListed(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => {
    const parts = pattern.split('*').map((text) => text.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
    return new RegExp(`^${parts.join('.*')}$`, 'is').test(name)
  })
}
