import { describe } from 'vitest'
import { allBackends } from '../../support/backends.ts'
import { testAttempts } from './attempts.ts'
import { testCancelling } from './cancelling.ts'

for (const backend of allBackends())
  describe.skipIf(backend.missing !== '')(`jobs kept by ${backend.name}${backend.missing}`, () => {
    testAttempts(backend)
    testCancelling(backend)
  })
