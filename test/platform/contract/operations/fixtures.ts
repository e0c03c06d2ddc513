import { vi } from 'vitest'
import type { ContainerGroup } from '../../../../src/contracts/platform/container-group.ts'
import type { ContainerInstance } from '../../../../src/contracts/platform/container-instance.ts'
import { type Bench, jsonOf, type Scope } from '../bench.ts'
import { images } from '../launcher.ts'
import type { Fixture, Params } from '../operation.ts'

/** A group that runs nothing, in a create body. */
export const groupBody = (name: string, more: Readonly<Record<string, unknown>> = {}) => ({
  name,
  autostart_policy: false,
  restart_policy: 'always',
  replicas: 0,
  container: { image: images.usual, resources: { cpu: 1, memory: 1024 } },
  ...more,
})

export const networking = { auth: false, protocol: 'http', port: 3000 }

const projectPath = ({ project }: Scope) => `/projects/${project}`

export const aQueue: Fixture = async (bench, scope) => {
  const queue = bench.name()
  await bench.does(scope, `POST ${projectPath(scope)}/queues`, { name: queue })
  return { queue }
}

/** A job in a queue of its own. */
export const aQueueJob: Fixture = async (bench, scope) => {
  const { queue = '' } = await aQueue(bench, scope)
  const made = await bench.does(scope, `POST ${projectPath(scope)}/queues/${queue}/jobs`, { input: { a: [null] } })
  return { queue, job: idOf(jsonOf(made)) }
}

/** A job of `transcription-lite`. */
export const anInferenceJob: Fixture = async (bench, scope) => {
  const endpoint = 'transcription-lite'
  const made = await bench.does(scope, `POST /inference-endpoints/${endpoint}/jobs`, { input: { a: null } })
  return { endpoint, job: idOf(jsonOf(made)) }
}

/** Resolves when the image of the group has been prepared. */
export const prepared = (bench: Bench, scope: Scope, group: string): Promise<ContainerGroup> =>
  until(bench, scope, group, ({ current_state }) => current_state.status !== 'pending')

/** Resolves with a group when it is as it is waited for. */
export const until = (
  bench: Bench,
  scope: Scope,
  name: string,
  is: (group: ContainerGroup) => boolean,
): Promise<ContainerGroup> =>
  vi.waitFor(
    async () => {
      const answer = await bench.does(scope, `GET ${projectPath(scope)}/containers/${name}`)
      const group = jsonOf(answer) as ContainerGroup
      if (is(group)) return group
      throw new Error(`it is still ${JSON.stringify(group.current_state)}`)
    },
    { timeout: 20_000, interval: 5 },
  )

/** A fixture that makes a group of such a body, and resolves when its image has been prepared. */
const groupOf =
  (more: (params: Params) => Readonly<Record<string, unknown>>, before: Fixture = async () => ({})): Fixture =>
  async (bench, scope) => {
    const group = bench.name()
    await bench.does(scope, `POST ${projectPath(scope)}/containers`, groupBody(group, more(await before(bench, scope))))
    await prepared(bench, scope, group)
    return { group }
  }

/** A group with networking and no instances. */
export const aGroup: Fixture = groupOf(() => ({ networking }))

/** A group without networking. */
export const aPlainGroup: Fixture = groupOf(() => ({}))

/** A group with networking that is connected to a queue. */
export const aConnectedGroup: Fixture = groupOf(
  ({ queue }) => ({ networking, queue_connection: { path: '/', port: 3000, queue_name: queue } }),
  aQueue,
)

/** The same, to be changed again and again. */
export const aChangingGroup: Fixture = (bench, scope) => aConnectedGroup(bench, scope)

/** A group whose image never comes. */
export const aPendingGroup: Fixture = async (bench, scope) => {
  const group = bench.name()
  const container = { image: images.slow, resources: { cpu: 1, memory: 1024 } }
  await bench.does(scope, `POST ${projectPath(scope)}/containers`, groupBody(group, { container, networking }))
  return { group }
}

/** A group whose image cannot be had. */
export const aFailedGroup: Fixture = groupOf(() => ({
  container: { image: images.missing, resources: { cpu: 1, memory: 1024 } },
}))

/** A group whose next image never comes. */
export const aHalfChangedGroup: Fixture = async (bench, scope) => {
  const { group = '' } = await aGroup(bench, scope)
  await bench.does(scope, `PATCH ${projectPath(scope)}/containers/${group}`, { container: { image: images.slow } })
  return { group }
}

/** A group with one instance that runs. */
export const anInstance: Fixture = async (bench, scope) => {
  const group = bench.name()
  const body = groupBody(group, { autostart_policy: true, replicas: 1, networking })
  await bench.does(scope, `POST ${projectPath(scope)}/containers`, body)
  await until(bench, scope, group, ({ pending_change }) => !pending_change)
  const answer = await bench.does(scope, `GET ${projectPath(scope)}/containers/${group}/instances`)
  const { instances } = jsonOf(answer) as { readonly instances: readonly ContainerInstance[] }
  return { group, instance: instances[0]!.id } // it is running
}

/** The same, to be changed again and again. */
export const aChangingInstance: Fixture = (bench, scope) => anInstance(bench, scope)

export const idOf = (body: unknown): string => (body as { readonly id: string }).id
