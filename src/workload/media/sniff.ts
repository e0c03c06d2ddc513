/** What the first bytes of a file say it is. */
export interface MediaType {
  /** Its usual name, as sentences about it write it. */
  readonly name: string
  readonly mime: string
  readonly extension: string
  /** Whether it is a picture that this server can decode. */
  readonly accepted: boolean
}

type Signature = readonly [name: string, mime: string, extension: string, begins: (head: string) => boolean]

const at =
  (offset: number, ...magics: readonly string[]) =>
  (head: string) =>
    magics.some((magic) => head.startsWith(magic, offset))
const riff = (kind: string) => (head: string) => head.startsWith('RIFF') && head.startsWith(kind, 8)
/** ISO base media files list their brands in the box `ftyp`, whose length comes first. */
const brand =
  (...brands: readonly string[]) =>
  (head: string) =>
    head.startsWith('ftyp', 4) && brands.some((name) => head.slice(8, head.charCodeAt(3)).includes(name))
const markup = (tag: RegExp) => (head: string) => tag.test(head.replace(/^(\xef\xbb\xbf)?\s*/, '').toLowerCase())

const pictures: readonly Signature[] = [
  ['PNG', 'image/png', 'png', at(0, '\x89PNG\r\n\x1a\n')],
  ['JPEG', 'image/jpeg', 'jpg', at(0, '\xff\xd8\xff')],
  ['GIF', 'image/gif', 'gif', at(0, 'GIF87a', 'GIF89a')],
  ['WebP', 'image/webp', 'webp', riff('WEBP')],
  ['TIFF', 'image/tiff', 'tiff', at(0, 'II*\0', 'MM\0*')],
  ['AVIF', 'image/avif', 'avif', brand('avif', 'avis')],
]

const others: readonly Signature[] = [
  ['BMP', 'image/bmp', 'bmp', (head) => head.startsWith('BM') && head.startsWith('\0\0\0\0', 6)],
  ['HEIC', 'image/heic', 'heic', brand('heic', 'heix', 'hevc', 'heim', 'heis', 'mif1', 'msf1')],
  ['ICO', 'image/x-icon', 'ico', at(0, '\0\0\x01\0')],
  ['SVG', 'image/svg+xml', 'svg', markup(/^<svg|^<\?xml[\s\S]*<svg/)],
  ['HTML', 'text/html', 'html', markup(/^<!doctype html|^<html|^<head|^<body/)],
  ['XML', 'application/xml', 'xml', markup(/^<\?xml/)],
  ['PDF', 'application/pdf', 'pdf', at(0, '%PDF-')],
  ['ZIP', 'application/zip', 'zip', at(0, 'PK\x03\x04', 'PK\x05\x06')],
  ['gzip', 'application/gzip', 'gz', at(0, '\x1f\x8b')],
  ['7z', 'application/x-7z-compressed', '7z', at(0, '7z\xbc\xaf\x27\x1c')],
  ['RAR', 'application/vnd.rar', 'rar', at(0, 'Rar!\x1a\x07')],
  ['tar', 'application/x-tar', 'tar', at(257, 'ustar')],
  ['MP4', 'video/mp4', 'mp4', at(4, 'ftyp')],
  ['Matroska', 'video/x-matroska', 'mkv', at(0, '\x1aE\xdf\xa3')],
  ['AVI', 'video/x-msvideo', 'avi', riff('AVI ')],
  ['WAV', 'audio/wav', 'wav', riff('WAVE')],
  ['Ogg', 'audio/ogg', 'ogg', at(0, 'OggS')],
  ['FLAC', 'audio/flac', 'flac', at(0, 'fLaC')],
  ['MP3', 'audio/mpeg', 'mp3', at(0, 'ID3')],
]

/** The type of a file by its content, never by its name or what a sender declares; undefined when it is none we know. */
export function sniff(bytes: Uint8Array): MediaType | undefined {
  const head = Buffer.from(bytes.subarray(0, 512)).toString('latin1')
  for (const [signatures, accepted] of [
    [pictures, true],
    [others, false],
  ] as const) {
    const found = signatures.find(([, , , begins]) => begins(head))
    if (found) return { name: found[0], mime: found[1], extension: found[2], accepted }
  }
  return isText(bytes) ? { name: 'text', mime: 'text/plain', extension: 'txt', accepted: false } : undefined
}

/** Readable characters only, and enough of them not to be an accident. */
function isText(bytes: Uint8Array): boolean {
  return bytes.length >= 8 && bytes.subarray(0, 512).every((byte) => byte >= 0x20 || (byte >= 0x09 && byte <= 0x0d))
}
