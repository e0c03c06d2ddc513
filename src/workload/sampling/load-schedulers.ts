import { discover } from '../base/discover.ts'
import { inOrder, schedulerOrder } from './catalogue-order.ts'
import type { Scheduler } from './scheduler.ts'

const asScheduler = (exported: unknown): Scheduler | undefined =>
  typeof exported === 'object' && exported !== null && 'sigmas' in exported && 'name' in exported
    ? (exported as Scheduler) // the folder holds schedulers; conformance tests run each
    : undefined

/** Every scheduler in `schedulers/`, by the name prompts call it, in ComfyUI's order. */
export async function loadSchedulers(): Promise<ReadonlyMap<string, Scheduler>> {
  const folder = new URL('./schedulers/', import.meta.url)
  return inOrder(await discover(folder, asScheduler, ({ name }) => name), schedulerOrder)
}
