import type { ProblemCode } from '../../contracts/problem.ts'
import type { Prompt, PromptNode } from '../../contracts/prompt.ts'
import { WorkloadError } from '../base/errors.ts'
import { findFile, isPlainName } from '../base/find-file.ts'
import { decodeBase64 } from './base64.ts'
import { keepFile } from './keep-file.ts'
import { type MediaType, sniff } from './sniff.ts'

export interface InlineMediaOptions {
  /** Where pictures that came inside the prompt are kept; made when needed. */
  readonly folder: string
  /** The server's own input pictures, which a prompt may name. */
  readonly inputDir: string
  /** The most bytes one decoded picture may have. */
  readonly maxBytes: number
}

/** Why one input cannot be used. */
interface Fault {
  readonly code: ProblemCode
  readonly text: string
}

/**
 * The prompt with every picture that stands in an `image` input (data URI or base64) put into `folder` and replaced by
 * its file's name, which is made from its content: equal pictures get equal names and share cached results. Names of
 * input files stay as they are. Throws one error with all faults; texts never repeat what was sent.
 */
export async function storeInlineMedia(prompt: Prompt, options: InlineMediaOptions): Promise<Prompt> {
  const stored: Record<string, PromptNode> = {}
  const faults: (Fault & { readonly location: string })[] = []
  for (const [id, node] of Object.entries(prompt)) {
    const { image } = node.inputs
    stored[id] = node
    if (typeof image !== 'string' || image === '') continue
    const name = await nameFor(image, options)
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

/** The name under which the engine will find the picture that `text` stands for. */
async function nameFor(text: string, options: InlineMediaOptions): Promise<string | Fault> {
  if (/^data:/i.test(text)) return storeDataUri(text, options)
  if (/^(https?|s3):\/\//i.test(text))
    return {
      code: 'media-unavailable',
      text: 'URL inputs are not available yet: send the image as base64, data URI or a file name',
    }
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
async function isFile(text: string, { inputDir, folder }: InlineMediaOptions): Promise<boolean> {
  if (/ \[(output|temp)\]$/.test(text)) return true
  if (await findFile(inputDir, text.replace(/ \[input\]$/, ''))) return true
  return /^[0-9a-f]{32}\.\w+$/.test(text) && (await findFile(folder, text)) !== undefined
}

async function storeDataUri(text: string, options: InlineMediaOptions): Promise<string | Fault> {
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

async function store(bytes: Buffer, type: MediaType, { folder }: InlineMediaOptions): Promise<string | Fault> {
  if (!type.accepted)
    return { code: 'media-unsupported', text: `${type.name} content: send a PNG, JPEG, WebP, GIF, TIFF or AVIF image` }
  return keepFile(folder, bytes, type.extension)
}

const tooLarge = ({ maxBytes }: InlineMediaOptions): Fault => ({
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
