import { z } from 'zod'
import type { ContainerInput } from '../../contracts/platform/container.ts'
import { messageOf } from '../base/errors.ts'
import { signedHeaders } from './aws-signature.ts'
import { ImageUnavailable } from './launcher.ts'

type Keys = NonNullable<NonNullable<ContainerInput['registry_authentication']>['aws_ecr']>

/** What a registry is logged in to with. */
export interface RegistryLogin {
  readonly username: string
  readonly password: string
}

export interface EcrOptions {
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Where a region's registries are administered. */
  readonly endpointOf: (region: string) => string
}

/** As AWS names them; China's have another end. */
export const ecrEndpoint = (region: string): string =>
  `https://api.ecr.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}/`

/** How long AWS may take to answer. */
const TIMEOUT_MS = 15_000

const answerSchema = z.object({ authorizationData: z.array(z.object({ authorizationToken: z.string() })).min(1) })

/** Asks AWS for a login that is good for half a day, with the keys of a group. Throws `ImageUnavailable`. */
export async function ecrLogin(registry: string, keys: Keys, { now, endpointOf }: EcrOptions): Promise<RegistryLogin> {
  const region = /^\d+\.dkr\.ecr\.([a-z0-9-]+)\.amazonaws\.com(\.cn)?$/.exec(registry)?.[1]
  if (region === undefined)
    throw new ImageUnavailable(`registry_authentication.aws_ecr: ${registry} is no registry of Amazon ECR.`)
  const url = new URL(endpointOf(region))
  const headers = {
    'content-type': 'application/x-amz-json-1.1',
    'x-amz-target': 'AmazonEC2ContainerRegistry_V20150921.GetAuthorizationToken',
  }
  const { access_key_id: accessKeyId, secret_access_key: secretAccessKey } = keys
  const { host: _given, ...signed } = signedHeaders(
    { method: 'POST', url, headers, body: '{}' },
    { ...{ accessKeyId, secretAccessKey, region }, service: 'ecr', time: now() },
  )
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const response = await fetch(url, { method: 'POST', headers: signed, body: '{}', redirect: 'error', signal })
    if (!response.ok) throw new Error(`AWS answers with status ${response.status}`)
    const [data] = answerSchema.parse(await response.json()).authorizationData
    const login = Buffer.from(data?.authorizationToken ?? '', 'base64').toString()
    const colon = login.indexOf(':')
    return { username: login.slice(0, colon), password: login.slice(colon + 1) }
  } catch (cause) {
    throw new ImageUnavailable(`registry_authentication.aws_ecr: there is no login: ${messageOf(cause)}`, { cause })
  }
}
