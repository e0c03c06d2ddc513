import { expect } from 'vitest'
import { gpuClassListSchema } from '../../../../src/contracts/platform/gpu-class.ts'
import { keySetSchema } from '../../../../src/contracts/platform/key-set.ts'
import { quotasSchema, webhookSecretSchema } from '../../../../src/contracts/platform/quotas.ts'
import { ORGANIZATION } from '../bench.ts'
import type { Operation } from '../operation.ts'

const management = 'management'

/** Section 13, and the key set of section 21. */
export const organizationOperations: readonly Operation[] = [
  {
    ...{ surface: management, method: 'GET', path: `${ORGANIZATION}/gpu-classes`, status: 200 },
    ...{ answer: gpuClassListSchema, paged: true },
  },
  {
    ...{ surface: management, method: 'GET', path: `${ORGANIZATION}/quotas`, status: 200 },
    answer: quotasSchema,
  },
  {
    ...{ surface: management, method: 'GET', path: `${ORGANIZATION}/webhook-secret-key`, status: 200 },
    answer: webhookSecretSchema,
  },
  {
    ...{ surface: management, method: 'POST', path: `${ORGANIZATION}/webhook-secret-key`, status: 200 },
    answer: webhookSecretSchema,
  },
  {
    ...{ surface: management, method: 'GET', path: '/.well-known/workload-jwks.json', status: 200 },
    answer: keySetSchema,
    after: ({ headers }) => expect(headers['cache-control']).toBe('public, max-age=600'),
  },
]
