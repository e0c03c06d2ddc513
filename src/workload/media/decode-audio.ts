import { type FileHandle, open } from 'node:fs/promises'
import { messageOf, WorkloadError } from '../base/errors.ts'
import { type AudioFormat, audioFormatOf, tagBytes } from './audio-format.ts'
import { collectAudio } from './collect-audio.ts'
import { moviePieces } from './movie-pieces.ts'
import { readPieces } from './read-pieces.ts'
import { sniff } from './sniff.ts'

/** A file that keeps a decoder busy for longer is not worth it: two and a half hours take a minute or two. */
const LONGEST_MS = 20 * 60_000
const HEAD_BYTES = 512
/** Of a film's picture there is less between two pieces of its sound. What decoders keep and copy meanwhile is bounded by it. */
const MOST_SILENT_BYTES = 32 * 2 ** 20
/** Programs that write ID3 tags do not always look whether there is one. */
const MOST_TAGS = 8

/**
 * Bytes that a decoder is given at a time. Where silence is so well compressed that a few bytes stand for a second of it,
 * they are few, for all that comes out of them is in memory at once; containers are given more, for they keep what they
 * cannot use yet and copy it each time.
 */
const pieceBytes: Readonly<Record<AudioFormat, number>> = {
  ...{ aac: 2 ** 13, flac: 2 ** 13, mp3: 2 ** 13, oga: 2 ** 13, opus: 2 ** 13 },
  ...{ avi: 2 ** 16, mkv: 2 ** 16, mp4: 2 ** 16, wma: 2 ** 16 },
  ...{ aiff: 2 ** 20, caf: 2 ** 20, wav: 2 ** 20 },
}

/** Samples as speech models want them. */
export interface DecodedAudio {
  /** 16 kHz, one channel, from -1 to 1. */
  readonly samples: Float32Array
  /** How many channels the file has. */
  readonly channels: number
}

export interface DecodeAudioOptions {
  /** Which channel, from 0; `all` is the mean of them. */
  readonly channel: number | 'all'
  readonly maxSeconds: number
  readonly signal: AbortSignal
}

/**
 * Reads the first audio stream of a file, a piece at a time, for a film may have gigabytes. Throws `media-unsupported` with
 * a sentence about the file for whatever is no audio, has none, is damaged or too long.
 */
export async function decodeAudio(path: string, options: DecodeAudioOptions): Promise<DecodedAudio> {
  const file = await open(path)
  try {
    return await decodeFile(file, options)
  } finally {
    await file.close()
  }
}

async function decodeFile(
  file: FileHandle,
  { channel, maxSeconds, signal }: DecodeAudioOptions,
): Promise<DecodedAudio> {
  const { size: bytes } = await file.stat()
  if (bytes === 0) throw unusable('the file is empty')
  const format = await formatOf(file)
  const size = pieceBytes[format]
  const decoder = await openDecoder(format)
  const collected = collectAudio(channel, maxSeconds)
  const late = AbortSignal.timeout(LONGEST_MS)
  let silentBytes = 0
  try {
    const pieces = format === 'mp4' ? moviePieces(file, bytes, size) : readPieces(file, 0, bytes, size)
    for await (const piece of pieces) {
      signal.throwIfAborted()
      if (late.aborted) throw unusable('the file takes too long to decode')
      const decoded = await decoder(piece).catch(undecodable)
      silentBytes = decoded.channelData.length > 0 ? 0 : silentBytes + piece.length
      // Of a film with an index, what is no sound is passed over and not kept.
      if (silentBytes > MOST_SILENT_BYTES && format !== 'mp4')
        throw unusable('the file has too much in it that is no audio')
      collected.take(decoded)
    }
    collected.take(await decoder().catch(undecodable))
  } finally {
    decoder.free()
  }
  return collected.end()
}

async function formatOf(file: FileHandle): Promise<AudioFormat> {
  const headAt = async (at: number) => {
    const { bytesRead, buffer } = await file.read(new Uint8Array(HEAD_BYTES), 0, HEAD_BYTES, at)
    return buffer.subarray(0, bytesRead)
  }
  const head = await headAt(0)
  let [at, rest] = [0, head]
  for (let tags = 0, tag = tagBytes(rest); tag > 0 && tags < MOST_TAGS; tags++, tag = tagBytes(rest)) {
    at += tag
    rest = await headAt(at)
  }
  const format = audioFormatOf(rest)
  if (format) return format
  const { name } = sniff(head) ?? {}
  throw unusable(`the file is no audio that can be read here${name === undefined ? '' : `: it is ${name}`}`)
}

/** One stream's decoder: pieces in, samples out; called without a piece at the end. */
interface Decoder {
  (piece?: Uint8Array): Promise<{ readonly channelData: readonly Float32Array[]; readonly sampleRate: number }>
  free(): void
}

/** The library is imported when there is something to decode; its types leave out what it has learnt of late. */
async function openDecoder(format: AudioFormat): Promise<Decoder> {
  const { default: decode } = await import('audio-decode')
  return (decode as unknown as Readonly<Record<AudioFormat, () => Promise<Decoder>>>)[format]()
}

function undecodable(cause: unknown): never {
  throw new WorkloadError('media-unsupported', `the audio cannot be decoded: ${messageOf(cause).slice(0, 200)}`, {
    cause,
  })
}

const unusable = (text: string) => new WorkloadError('media-unsupported', text)
