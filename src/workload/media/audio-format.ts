/** The containers and streams that can be decoded, as the decoding library calls them. */
export type AudioFormat =
  | 'aac'
  | 'aiff'
  | 'avi'
  | 'caf'
  | 'flac'
  | 'mkv'
  | 'mp3'
  | 'mp4'
  | 'oga'
  | 'opus'
  | 'wav'
  | 'wma'

type Signature = readonly [format: AudioFormat, begins: (head: string) => boolean]

const at =
  (offset: number, ...magics: readonly string[]) =>
  (head: string) =>
    magics.some((magic) => head.startsWith(magic, offset))

const signatures: readonly Signature[] = [
  ['wav', (head) => head.startsWith('RIFF') && head.startsWith('WAVE', 8)],
  ['avi', (head) => head.startsWith('RIFF') && head.startsWith('AVI ', 8)],
  ['aiff', (head) => head.startsWith('FORM') && at(8, 'AIFF', 'AIFC')(head)],
  ['flac', at(0, 'fLaC')],
  ['opus', (head) => head.startsWith('OggS') && head.startsWith('OpusHead', 28)],
  ['flac', (head) => head.startsWith('OggS') && head.startsWith('\x7fFLAC', 28)],
  ['oga', at(0, 'OggS')],
  ['mkv', at(0, '\x1aE\xdf\xa3')],
  ['wma', at(0, '\x30\x26\xb2\x75\x8e\x66\xcf\x11')],
  ['caf', at(0, 'caff')],
  // Early QuickTime files begin without `ftyp`.
  ['mp4', at(4, 'ftyp', 'moov', 'mdat', 'wide')],
  ['aac', (head) => head.charCodeAt(0) === 0xff && (head.charCodeAt(1) & 0xf6) === 0xf0],
  ['mp3', isMpegFrame],
]

/** What the first bytes of a file say it is, whatever its name; undefined when it is nothing that can be decoded. */
export function audioFormatOf(bytes: Uint8Array): AudioFormat | undefined {
  const head = Buffer.from(bytes.subarray(0, 64)).toString('latin1')
  return signatures.find(([, begins]) => begins(head))?.[0]
}

/** How many bytes an ID3 tag at the beginning has (ID3v2.4, section 3.1); 0 when there is none. */
export function tagBytes(bytes: Uint8Array): number {
  const isTag = Buffer.from(bytes.subarray(0, 3)).toString('latin1') === 'ID3' && bytes.length >= 10
  if (!isTag) return 0
  const size = bytes.subarray(6, 10).reduce((sum, byte) => sum * 128 + (byte & 0x7f), 0)
  return 10 + size + ((bytes[5]! & 0x10) === 0 ? 0 : 10)
}

/** A frame of MPEG audio: its synchronisation, and none of the values that mean nothing. */
function isMpegFrame(head: string): boolean {
  const [first, second, third] = [head.charCodeAt(0), head.charCodeAt(1), head.charCodeAt(2)]
  const [version, layer, bits, rate] = [(second >> 3) & 3, (second >> 1) & 3, third >> 4, (third >> 2) & 3]
  return first === 0xff && second >= 0xe0 && version !== 1 && layer !== 0 && bits !== 15 && rate !== 3
}
