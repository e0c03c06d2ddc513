import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'

/** Which stream, three zeros, and the length of what follows as a big-endian uint32. */
const HEAD_BYTES = 8
/** Output without an end of line is cut there. */
const MOST_CHARACTERS = 65_536

/** Reads the two streams of a container's output, which the engine sends as frames in one, and tells each line. */
export async function readFrames(stream: Readable, onLine: (line: string) => void): Promise<void> {
  const outputs = new Map<number, Lines>()
  let pending: Buffer = Buffer.alloc(0)
  for await (const piece of stream as AsyncIterable<Buffer>) {
    pending = pending.length === 0 ? piece : Buffer.concat([pending, piece])
    while (pending.length >= HEAD_BYTES) {
      const end = HEAD_BYTES + pending.readUInt32BE(4)
      if (pending.length < end) break
      const which = pending.readUInt8(0)
      const lines = outputs.get(which) ?? createLines(onLine)
      outputs.set(which, lines)
      lines.add(pending.subarray(HEAD_BYTES, end))
      pending = pending.subarray(end)
    }
  }
  for (const lines of outputs.values()) lines.end()
}

interface Lines {
  add(bytes: Buffer): void
  end(): void
}

function createLines(onLine: (line: string) => void): Lines {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  const take = (text: string): void => {
    const lines = (rest + text).split(/\r?\n/)
    rest = lines.pop() ?? ''
    lines.forEach(onLine)
    if (rest.length < MOST_CHARACTERS) return
    onLine(rest)
    rest = ''
  }
  return {
    add: (bytes) => take(decoder.write(bytes)),
    end() {
      take(decoder.end())
      if (rest !== '') onLine(rest)
    },
  }
}
