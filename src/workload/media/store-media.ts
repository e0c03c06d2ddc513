import type { ProblemCode } from '../../contracts/problem.ts'
import type { Prompt, PromptNode } from '../../contracts/prompt.ts'
import { WorkloadError } from '../base/errors.ts'
import { findFile, isPlainName } from '../base/find-file.ts'
import { decodeBase64 } from './base64.ts'
import type { FetchMedia } from './fetch-media.ts'
import type { InputOptions, TakeInputs } from './inputs.ts'
import { keepFile } from './keep-file.ts'
import { type MediaType, sniff } from './sniff.ts'
import { unescaped } from './unescaped.ts'

/** Pictures that are taken in at a time: each is in memory while it comes. */
const AT_ONCE = 4

export interface MediaDeps {
  /** The server's own input pictures, which a prompt may name. */
  readonly inputDir: string
  /** The most bytes one decoded picture may have. */
  readonly maxBytes: number
  /** The most pixels that all frames of one picture may have. */
  readonly maxPixels: number
  /** The pixels that a file's header announces; undefined when it cannot be read. */
  readonly pixelsOf: (bytes: Buffer) => Promise<number | undefined>
  /** Pictures by URL. */
  readonly media: FetchMedia
}

type MediaOptions = MediaDeps & InputOptions

/** Why one input cannot be used. */
interface Fault {
  readonly code: ProblemCode
  readonly text: string
  readonly cause?: unknown
}

/**
 * Puts every picture that stands in an `image` input (URL, data URI or base64) into the prompt's folder and the name of its
 * file in its place, which is made from its content: equal pictures get equal names and share cached results. Names of
 * input files stay as they are. Texts of faults never repeat what was sent.
 */
export function createMediaInputs(deps: MediaDeps): TakeInputs {
  return async (prompt, inputOptions) => {
    const options = { ...deps, ...inputOptions }
    const names = await namesFor(prompt, options)
    const stored: Record<string, PromptNode> = {}
    const faults: (Fault & { readonly location: string })[] = []
    for (const [id, node] of Object.entries(prompt)) {
      const { image } = node.inputs
      stored[id] = node
      if (!isText(image)) continue
      const name = names.get(image)!
      if (typeof name !== 'string') faults.push({ location: `prompt.${id}.inputs.image`, ...name })
      else if (name !== image) stored[id] = { ...node, inputs: { ...node.inputs, image: name } }
    }
    const [first] = faults
    if (first !== undefined)
      throw new WorkloadError(first.code, first.text, {
        location: first.location,
        cause: first.cause,
        errors: Object.fromEntries(faults.map(({ location, text }) => [location, [text]])),
      })
    const assumed = [...names].flatMap(([text, name]) => (isUrl(text) && !options.fetch ? [name as string] : []))
    return { prompt: stored, assumed: new Set(assumed), release: () => undefined }
  }
}

/** What stands for each different text: a URL that several nodes name is fetched once. */
async function namesFor(prompt: Prompt, options: MediaOptions): Promise<ReadonlyMap<string, string | Fault>> {
  const texts = [...new Set(Object.values(prompt).flatMap(({ inputs: { image } }) => (isText(image) ? [image] : [])))]
  const names = new Map<string, string | Fault>()
  const waiting = texts.entries()
  const work = async (): Promise<void> => {
    for (const [i, text] of waiting) names.set(text, await nameFor(text, i, options))
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return names
}

const isText = (input: unknown): input is string => typeof input === 'string' && input !== ''

const isUrl = (text: string): boolean => /^(https?|s3):\/\//i.test(text)

/** The name under which the engine will find the picture that `text`, the `index`-th of the prompt, stands for. */
async function nameFor(text: string, index: number, options: MediaOptions): Promise<string | Fault> {
  if (/^data:/i.test(text)) return storeDataUri(text, options)
  if (isUrl(text)) return storeRemote(text, index, options)
  if (await isFile(text, options)) return text
  const decoded = decodeBase64(text, options.maxBytes)
  if (decoded === 'too-large') return tooLarge(options)
  const type = decoded && sniff(decoded)
  if (decoded && type) return store(decoded, type, options)
  if (text.length <= 255 && !isPlainName(text))
    return { code: 'path-not-allowed', text: 'an input file is named by its path inside the input folder' }
  return { code: 'media-unavailable', text: 'neither the name of an input file nor an image in base64' }
}

/** Files of the output and temp folders are looked up when the graph is validated; base64 has no brackets. */
async function isFile(text: string, { inputDir, folder }: MediaOptions): Promise<boolean> {
  if (/ \[(output|temp)\]$/.test(text)) return true
  if (await findFile(inputDir, text.replace(/ \[input\]$/, ''))) return true
  return /^[0-9a-f]{32}\.\w+$/.test(text) && (await findFile(folder, text)) !== undefined
}

/** Without `fetch` the name stands for a file that is still to come. */
async function storeRemote(url: string, index: number, options: MediaOptions): Promise<string | Fault> {
  const { media, credentials, signal, fetch } = options
  try {
    if (!fetch) {
      media.check(url, credentials)
      return `url-${index}.png`
    }
    const bytes = await media.fetch(url, credentials, signal)
    const type = sniff(bytes)
    return type ? await store(bytes, type, options) : { code: 'media-unsupported', text: 'the URL holds no image' }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof WorkloadError) return { code: error.code, text: error.message, cause: error }
    throw error
  }
}

async function storeDataUri(text: string, options: MediaOptions): Promise<string | Fault> {
  const comma = text.indexOf(',')
  const header = text.slice('data:'.length, Math.max(comma, 0)).toLowerCase()
  if (comma < 0 || !/;\s*base64\s*$/.test(header))
    return { code: 'media-unsupported', text: 'a data URI must read data:<type>;base64,<data>' }
  const data = text.slice(comma + 1)
  const decoded = decodeBase64(data.includes('%') ? unescaped(data) : data, options.maxBytes)
  if (decoded === 'too-large') return tooLarge(options)
  const type = decoded && sniff(decoded)
  if (!decoded || !type) return { code: 'media-unsupported', text: 'the data URI does not hold an image in base64' }
  const declared = header.split(';', 1)[0]!.trim()
  if (type.accepted && !agrees(declared, type.mime))
    return { code: 'media-unsupported', text: `the data URI declares ${declared} but holds a ${type.name} image` }
  return store(decoded, type, options)
}

async function store(bytes: Buffer, type: MediaType, options: MediaOptions): Promise<string | Fault> {
  const { folder, pixelsOf, maxPixels } = options
  if (!type.accepted)
    return { code: 'media-unsupported', text: `${type.name} content: send a PNG, JPEG, WebP, GIF, TIFF or AVIF image` }
  if (((await pixelsOf(bytes)) ?? 0) > maxPixels)
    return { code: 'media-too-large', text: `an image may have ${maxPixels} pixels at most` }
  return keepFile(folder, bytes, type.extension)
}

const tooLarge = ({ maxBytes }: MediaOptions): Fault => ({
  code: 'media-too-large',
  text: `an image may have ${maxBytes} bytes at most`,
})

/** Old and sloppy spellings of a type are the type; no type, or that of any bytes, promises nothing. */
function agrees(declared: string, mime: string): boolean {
  const plain = declared
    .replace('/x-', '/')
    .replace('/pjpeg', '/jpeg')
    .replace(/\/jpg$/, '/jpeg')
    .replace(/\/tif$/, '/tiff')
  return plain === mime || plain === '' || plain === 'application/octet-stream'
}
