import type { Readable } from 'node:stream'
import { z } from 'zod'
import type { Log } from '../../common/log.ts'
import type { ContainerInput } from '../../contracts/platform/container.ts'
import { type DockerEngine, EngineRefused, NOT_FOUND } from './docker-engine.ts'
import { registryHeaders } from './docker-registry-auth.ts'
import type { EcrOptions } from './ecr-login.ts'
import { parseImage } from './image-reference.ts'
import { ImageUnavailable, type PreparedImage } from './launcher.ts'

/** Of a compressed image (platform reference, section 26). */
const MOST_BYTES = 35e9
/** What the engine answers where the name of an image makes no sense. */
const BAD_NAME = 400
/** For failures that are told when the answer has begun. */
const PULL_FAILED = 500

/** Its size is left out: it is that of the unpacked image. */
const imageSchema = z.object({ Id: z.string(), RepoDigests: z.array(z.string()).nullish() })

/** A line of what the engine tells while it pulls. */
const progressSchema = z.object({
  status: z.string().optional(),
  /** Of a layer. */
  id: z.string().optional(),
  progressDetail: z.object({ total: z.number().optional() }).optional(),
  errorDetail: z.object({ message: z.string() }).optional(),
})

export interface ImageStore {
  readonly engine: DockerEngine
  readonly ecr: EcrOptions
  readonly log: Log
}

/**
 * Pulls an image. One that is on this machine already serves when it cannot be pulled, for images built here are in no
 * registry; not where the group brings a login, which has to be a good one. Throws `ImageUnavailable` with Docker's reason.
 */
export async function pullImage({ engine, ecr, log }: ImageStore, container: ContainerInput): Promise<PreparedImage> {
  const { image } = container
  const { pulled, refusal } = await pull(engine, ecr, container).then(
    (bytes) => ({ pulled: bytes, refusal: undefined }),
    (error: unknown) => {
      if (error instanceof EngineRefused) return { pulled: undefined, refusal: error }
      throw error
    },
  )
  const mayBeHere = !refusal || (refusal.status !== BAD_NAME && !container.registry_authentication)
  const found = mayBeHere ? await inspect(engine, image) : undefined
  if (!found)
    throw new ImageUnavailable(`The image ${image} cannot be pulled: ${refusal?.message ?? 'it is gone again'}`, {
      cause: refusal,
    })
  if (refusal) log.info({ image, reason: refusal.message }, 'an image is used as it is on this machine')
  const hash = found.RepoDigests?.find((one) => one.includes('@'))?.split('@')[1] ?? found.Id
  return { hash, ...(pulled !== undefined && { size: pulled }) }
}

/** Resolves with the bytes of its compressed layers; with undefined when some of them were here already. */
async function pull(engine: DockerEngine, ecr: EcrOptions, container: ContainerInput): Promise<number | undefined> {
  const { image } = container
  const { version } = parseImage(image)
  const progress = await engine.open('POST /images/create', {
    query: { fromImage: version === '' ? `${image}:latest` : image },
    headers: await registryHeaders(container, ecr),
  })
  const layers = new Map<string, number | undefined>()
  try {
    for await (const line of linesOf(progress)) {
      const { status, id, progressDetail, errorDetail } = progressSchema.parse(JSON.parse(line))
      if (errorDetail) throw new EngineRefused(PULL_FAILED, errorDetail.message)
      if (id === undefined || !(status && layerStatus.test(status))) continue
      layers.set(id, status === 'Downloading' ? (progressDetail?.total ?? layers.get(id)) : layers.get(id))
      if (sum(layers) > MOST_BYTES) throw tooLarge(image)
    }
  } finally {
    progress.destroy()
  }
  const isKnown = layers.size > 0 && [...layers.values()].every((bytes) => bytes !== undefined)
  return isKnown ? sum(layers) : undefined
}

async function* linesOf(stream: Readable): AsyncGenerator<string> {
  let rest = ''
  for await (const piece of stream.setEncoding('utf8') as AsyncIterable<string>) {
    const lines = (rest + piece).split('\n')
    rest = lines.pop() ?? ''
    yield* lines.filter((line) => line.trim() !== '')
  }
  if (rest.trim() !== '') yield rest
}

const layerStatus = /^(Pulling fs layer|Already exists|Downloading)$/

const sum = (layers: ReadonlyMap<string, number | undefined>): number =>
  [...layers.values()].reduce<number>((total, bytes) => total + (bytes ?? 0), 0)

const tooLarge = (image: string): ImageUnavailable =>
  new ImageUnavailable(`The image ${image} is larger than ${MOST_BYTES / 1e9} GB.`)

async function inspect(engine: DockerEngine, image: string): Promise<z.infer<typeof imageSchema> | undefined> {
  try {
    return await engine.ask(imageSchema, `GET /images/${image}/json`)
  } catch (error) {
    if (error instanceof EngineRefused && error.status === NOT_FOUND) return undefined
    throw error
  }
}
