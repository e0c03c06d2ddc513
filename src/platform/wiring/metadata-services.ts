import type { RequestListener } from 'node:http'
import type { Log } from '../../common/log.ts'
import { type Listening, listen } from '../base/listen.ts'
import { createImdsApp } from '../imds/app.ts'
import type { IdentityTokens } from '../imds/identity-tokens.ts'
import { imdsProblem } from '../imds/imds-problem.ts'
import type { ImdsInstance } from '../imds/instance.ts'

const CLOSE_MS = 500

/** Where containers find the metadata services of this machine. */
export interface MetadataHost {
  /** The address to listen on. */
  readonly address: string
  /** The name that leads there from within a container. */
  readonly name: string
}

export interface MetadataOptions {
  readonly tokens: IdentityTokens
  readonly baseUrl: string
  /** How long a token is given out again. */
  readonly cacheSeconds: number
  readonly host: MetadataHost
  /** The instance whose container has an address; undefined for addresses that are no container's. */
  readonly instanceAt: (address: string) => string | undefined
  readonly now: () => number
  readonly log: Log
}

/** An instance and the node that its service stands for. */
export interface MetadataPlace {
  readonly id: string
  readonly machine_id: string
}

/**
 * The metadata services: a listener for each node that has an instance, so that who asks is known by where it asks, and one
 * for all, which knows by its address who asks (platform reference, section 20.1).
 */
export interface MetadataServices {
  /** Starts the service of an instance and resolves with its address, which stays while its node is not left. */
  start(place: MetadataPlace, instance: ImdsInstance): Promise<string>
  /** The instance is gone; another may follow it on its node. */
  stop(place: Pick<MetadataPlace, 'id'>): void
  /** No instance follows on this node. */
  leave(machineId: string): void
  /** Where processes of this machine find the service of an instance; undefined when it has none. */
  urlOf(instanceId: string): string | undefined
  /** Answers whoever is known by its address. */
  readonly answerAll: RequestListener
  close(): Promise<void>
}

export function createMetadataServices(options: MetadataOptions): MetadataServices {
  const { tokens, baseUrl, cacheSeconds, host, instanceAt, now, log } = options
  const appOf = (instance: ImdsInstance): RequestListener =>
    createImdsApp({ instance, tokens, cacheSeconds, baseUrl, now, log })
  const nobody = appOf(unknownInstance)
  /** By instance id. */
  const apps = new Map<string, RequestListener>()
  /** By machine id; the instance is the last one that was started there. */
  const places = new Map<string, { readonly listener: Listening; instanceId: string }>()
  const callerOf = (address = ''): string | undefined => instanceAt(address.replace(/^::ffff:/, ''))

  const open = async ({ id, machine_id }: MetadataPlace): Promise<Listening> => {
    const listener = await listen(host.address, 0)
    const place = { listener, instanceId: id }
    places.set(machine_id, place)
    listener.refuseAs(imdsProblem(baseUrl))
    listener.answer((request, response) => {
      const caller = callerOf(request.socket.remoteAddress)
      const isOther = caller !== undefined && caller !== place.instanceId
      const app = isOther ? undefined : apps.get(place.instanceId)
      return (app ?? nobody)(request, response)
    })
    return listener
  }
  return {
    async start(place, instance) {
      const known = places.get(place.machine_id)
      if (known) known.instanceId = place.id
      const { port } = known?.listener ?? (await open(place))
      apps.set(place.id, appOf(instance))
      return `http://${host.name}:${port}`
    },
    stop: ({ id }) => void apps.delete(id),
    leave(machineId) {
      void places.get(machineId)?.listener.close(CLOSE_MS)
      places.delete(machineId)
    },
    urlOf(instanceId) {
      const place = [...places.values()].find((each) => each.instanceId === instanceId)
      return place && `http://${host.address}:${place.listener.port}`
    },
    answerAll: (request, response) => {
      const caller = callerOf(request.socket.remoteAddress)
      return ((caller !== undefined && apps.get(caller)) || nobody)(request, response)
    },
    close: async () => void (await Promise.all([...places.values()].map(({ listener }) => listener.close(CLOSE_MS)))),
  }
}

const nothing = async (): Promise<void> => undefined

/** Of callers that are no instance. */
const unknownInstance: ImdsInstance = {
  view: async () => undefined,
  ...{ setDeletionCost: nothing, recreate: nothing, restart: nothing, reallocate: nothing },
}
