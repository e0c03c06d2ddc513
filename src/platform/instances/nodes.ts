import { createHash } from 'node:crypto'
import type { ContainerInput } from '../../contracts/platform/container.ts'

/** What one node has: the upper bounds of the default GPU classes. */
const CAPACITY = { cpu: 16, memory: 61_440, storage: 268_435_456_000 }

type Resources = Pick<ContainerInput['resources'], 'cpu' | 'memory' | 'storage_amount'>

/** Nodes that exist in name only. Each holds one instance at a time, has every GPU, and is in every country. */
export interface Nodes {
  fits(resources: Resources): boolean
  /** A node with none of these machine ids; undefined when no node has so much or none is left. */
  find(resources: Resources, taken: ReadonlySet<string>): string | undefined
  /** How many nodes with none of these machine ids have so much. */
  count(resources: Resources, taken: ReadonlySet<string>): number
}

/** The same machine ids in every process. */
export function createNodes(count: number): Nodes {
  const ids = Array.from({ length: count }, (_, i) => machineId(i))
  const fits = ({ cpu, memory, storage_amount }: Resources): boolean =>
    cpu <= CAPACITY.cpu && memory <= CAPACITY.memory && storage_amount <= CAPACITY.storage
  return {
    fits,
    find: (resources, taken) => (fits(resources) ? ids.find((id) => !taken.has(id)) : undefined),
    count: (resources, taken) => (fits(resources) ? ids.filter((id) => !taken.has(id)).length : 0),
  }
}

/** In the form of a random UUID. */
function machineId(index: number): string {
  const digest = createHash('sha256').update(`node ${index}`).digest()
  digest.writeUInt8((digest.readUInt8(6) & 0x0f) | 0x40, 6)
  digest.writeUInt8((digest.readUInt8(8) & 0x3f) | 0x80, 8)
  const hex = digest.toString('hex', 0, 16)
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
