import { beforeAll } from 'vitest'
import type { Database } from '../../src/platform/base/database.ts'
import { addTenant, type Tenant } from './platform-database.ts'

/** To be called while tests are declared: two organizations that know nothing of each other, there once the tests run. */
export function twoTenants(database: () => Database): { readonly acme: Tenant; readonly other: Tenant } {
  const made: { acme?: Tenant; other?: Tenant } = {}
  beforeAll(async () => {
    const { db } = database()
    made.acme = await addTenant(db, 'acme')
    made.other = await addTenant(db, 'other')
  })
  const there = (name: 'acme' | 'other'): Tenant => {
    const tenant = made[name]
    if (!tenant) throw new Error('tenants are made before the tests')
    return tenant
  }
  return {
    get acme() {
      return there('acme')
    },
    get other() {
      return there('other')
    },
  }
}
