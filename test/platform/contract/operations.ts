import type { Operation } from './operation.ts'
import { gatewayOperations } from './operations/gateway.ts'
import { groupOperations } from './operations/groups.ts'
import { imdsOperations } from './operations/imds.ts'
import { inferenceOperations } from './operations/inference.ts'
import { instanceOperations } from './operations/instances.ts'
import { logOperations } from './operations/logs.ts'
import { organizationOperations } from './operations/organization.ts'
import { queueOperations } from './operations/queues.ts'
import { storageOperations } from './operations/storage.ts'
import { uploadOperations } from './operations/storage-uploads.ts'

/** Every operation of the contract. */
export const operations: readonly Operation[] = [
  ...organizationOperations,
  ...inferenceOperations,
  ...queueOperations,
  ...groupOperations,
  ...instanceOperations,
  ...logOperations,
  ...imdsOperations,
  ...storageOperations,
  ...uploadOperations,
  ...gatewayOperations,
]
