import type { ContainerInput } from '../../contracts/platform/container.ts'
import { type EcrOptions, ecrLogin, type RegistryLogin } from './ecr-login.ts'
import { parseImage } from './image-reference.ts'

type Authentication = NonNullable<ContainerInput['registry_authentication']>

const DOCKER_HUB = 'https://index.docker.io/v1/'

/**
 * The header by which the engine is told how to log in to an image's registry; none for images that anyone may pull. Throws
 * `ImageUnavailable`.
 */
export async function registryHeaders(
  { image, registry_authentication: given }: Pick<ContainerInput, 'image' | 'registry_authentication'>,
  ecr: EcrOptions,
): Promise<Readonly<Record<string, string>>> {
  if (!given) return {}
  const serveraddress = parseImage(image).registry ?? DOCKER_HUB
  const login = given.aws_ecr ? await ecrLogin(serveraddress, given.aws_ecr, ecr) : loginOf(given)
  return { 'x-registry-auth': Buffer.from(JSON.stringify({ ...login, serveraddress })).toString('base64url') }
}

function loginOf({ basic, docker_hub, gcp_gar, gcp_gcr }: Authentication): RegistryLogin {
  if (docker_hub) return { username: docker_hub.username, password: docker_hub.personal_access_token }
  if (basic) return basic
  const google = gcp_gar ?? gcp_gcr
  if (google) return googleLogin(google.service_key)
  throw new Error('a registry is logged in to in exactly one way')
}

/** Google takes a service account's key as it is, or in base64. */
const googleLogin = (key: string): RegistryLogin => ({
  username: key.trimStart().startsWith('{') ? '_json_key' : '_json_key_base64',
  password: key,
})
