import { asciiJson } from './png-text.ts'

/** The tag (`Model`) that ComfyUI keeps the prompt in; everything else goes to the tags from the one before it downwards. */
const PROMPT_TAG = 0x0110
const ASCII = 2

/**
 * EXIF data (a TIFF file of tags alone) that holds `texts` as ComfyUI writes them: `<key>:<JSON>` a tag. Entries that
 * would bring it beyond `maxBytes` are left out, the prompt last. Undefined when there are none.
 */
export function exifOf(texts: Readonly<Record<string, unknown>>, maxBytes: number): Buffer | undefined {
  const { prompt, ...others } = texts
  const entries = [
    ...(prompt === undefined ? [] : [['prompt', prompt] as const]),
    ...Object.entries(others).filter(([, value]) => value !== undefined),
  ]
  let size = 14
  let next = PROMPT_TAG - 1
  const tags: { readonly tag: number; readonly text: Buffer }[] = []
  for (const [key, value] of entries) {
    const text = Buffer.from(`${key.replace(/[^ -~]/g, '?')}:${asciiJson(value)}\0`, 'latin1')
    size += 12 + text.length + (text.length % 2)
    if (size > maxBytes || next < 1) break
    tags.push({ tag: key === 'prompt' ? PROMPT_TAG : next--, text })
  }
  return tags.length === 0 ? undefined : tiff(tags.sort((a, b) => a.tag - b.tag))
}

/** A little-endian TIFF file with one directory of texts (TIFF 6.0 §2); tags must rise. */
function tiff(tags: readonly { readonly tag: number; readonly text: Buffer }[]): Buffer {
  const head = Buffer.alloc(8 + 2 + 12 * tags.length + 4)
  head.write('II*\0', 'latin1')
  head.writeUInt32LE(8, 4)
  head.writeUInt16LE(tags.length, 8)
  const texts: Buffer[] = []
  let end = head.length
  for (const [i, { tag, text }] of tags.entries()) {
    const at = 10 + 12 * i
    head.writeUInt16LE(tag, at)
    head.writeUInt16LE(ASCII, at + 2)
    head.writeUInt32LE(text.length, at + 4)
    if (text.length <= 4) text.copy(head, at + 8)
    else {
      head.writeUInt32LE(end, at + 8)
      const padded = text.length % 2 === 0 ? text : Buffer.concat([text, Buffer.alloc(1)])
      texts.push(padded)
      end += padded.length
    }
  }
  return Buffer.concat([head, ...texts])
}
