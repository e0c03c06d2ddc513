import type { FamilyServices } from './family.ts'

/** `services` whose sessions are counted under the family's name. */
export function inFamily(services: FamilyServices, family: string): FamilyServices {
  const { runtime } = services
  return { ...services, runtime: { ...runtime, session: (source) => runtime.session({ family, ...source }) } }
}
