import type { ProblemCode } from '../../contracts/problem.ts'
import type { Prompt, PromptNode } from '../../contracts/prompt.ts'
import { WorkloadError } from '../base/errors.ts'
import { findFile, isPlainName } from '../base/find-file.ts'
import { decodeBase64 } from './base64.ts'
import { download } from './download.ts'
import { keepFile } from './keep-file.ts'
import type { Outbound } from './outbound.ts'
import { type MediaType, sniff } from './sniff.ts'

export interface MediaOptions {
  /** Where pictures that came inside the prompt are kept; made when needed. */
  readonly folder: string
  /** The server's own input pictures, which a prompt may name. */
  readonly inputDir: string
  /** The most bytes one decoded picture may have. */
  readonly maxBytes: number
  /** Fetches pictures by URL. */
  readonly outbound: Outbound
}

/** Why one input cannot be used. */
interface Fault {
  readonly code: ProblemCode
  readonly text: string
}

/**
 * The prompt with every picture that stands in an `image` input (URL, data URI or base64) put into `folder` and replaced
 * by its file's name, which is made from its content: equal pictures get equal names and share cached results. Names of
 * input files stay as they are. Throws one error with all faults; texts never repeat what was sent.
 */
export async function storeMedia(prompt: Prompt, options: MediaOptions): Promise<Prompt> {
  const stored: Record<string, PromptNode> = {}
  const faults: (Fault & { readonly location: string })[] = []
  /** One for each different text: a URL that several nodes name is fetched once. */
  const names = new Map<string, Promise<string | Fault>>()
  for (const { inputs } of Object.values(prompt))
    if (isText(inputs.image) && !names.has(inputs.image)) names.set(inputs.image, nameFor(inputs.image, options))
  for (const [id, node] of Object.entries(prompt)) {
    const { image } = node.inputs
    stored[id] = node
    if (!isText(image)) continue
    const name = await names.get(image)!
    if (typeof name !== 'string') faults.push({ location: `prompt.${id}.inputs.image`, ...name })
    else if (name !== image) stored[id] = { ...node, inputs: { ...node.inputs, image: name } }
  }
  const [first] = faults
  if (first === undefined) return stored
  throw new WorkloadError(first.code, first.text, {
    location: first.location,
    errors: Object.fromEntries(faults.map(({ location, text }) => [location, [text]])),
  })
}

const isText = (input: unknown): input is string => typeof input === 'string' && input !== ''

/** The name under which the engine will find the picture that `text` stands for. */
async function nameFor(text: string, options: MediaOptions): Promise<string | Fault> {
  if (/^data:/i.test(text)) return storeDataUri(text, options)
  if (/^https?:\/\//i.test(text)) return storeDownload(text, options)
  if (/^s3:\/\//i.test(text))
    return { code: 'url-not-allowed', text: 's3 URLs are not read yet: send an http or https URL' }
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

async function storeDownload(url: string, options: MediaOptions): Promise<string | Fault> {
  try {
    const bytes = await download(options.outbound, url, options.maxBytes)
    const type = sniff(bytes)
    return type ? await store(bytes, type, options) : { code: 'media-unsupported', text: 'the URL holds no image' }
  } catch (error) {
    if (error instanceof WorkloadError) return { code: error.code, text: error.message }
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

async function store(bytes: Buffer, type: MediaType, { folder }: MediaOptions): Promise<string | Fault> {
  if (!type.accepted)
    return { code: 'media-unsupported', text: `${type.name} content: send a PNG, JPEG, WebP, GIF, TIFF or AVIF image` }
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

/** Data with `%2B` and the like resolved; as it was when an escape is broken. */
function unescaped(data: string): string {
  try {
    return decodeURIComponent(data)
  } catch {
    return data
  }
}
