import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type DecodedAudio, decodeAudio } from '../../../src/workload/media/decode-audio.ts'
import { emptyFolder } from '../../support/folder.ts'
import { wav } from '../../support/wav.ts'

const decode = (path: string, options: Partial<Parameters<typeof decodeAudio>[1]> = {}) =>
  decodeAudio(path, { channel: 'all', maxSeconds: 60, signal: new AbortController().signal, ...options })

/** What becomes of a file with these bytes. */
async function decodeBytes(bytes: Uint8Array, options?: Parameters<typeof decode>[1]): Promise<DecodedAudio> {
  const path = join(await emptyFolder(), 'audio')
  await writeFile(path, bytes)
  return decode(path, options)
}

/** How much of a tone is in the middle of `samples`: its amplitude. */
function toneIn(samples: Float32Array, hz: number): number {
  const middle = samples.subarray(800, 800 + 1600 * Math.floor((samples.length - 1600) / 1600))
  let [cosine, sine] = [0, 0]
  for (const [i, sample] of middle.entries()) {
    cosine += sample * Math.cos((2 * Math.PI * hz * i) / 16_000)
    sine += sample * Math.sin((2 * Math.PI * hz * i) / 16_000)
  }
  return (2 * Math.hypot(cosine, sine)) / middle.length
}

const tone = (hz: number, rate: number, seconds: number, loud = 0.5) =>
  Float32Array.from({ length: rate * seconds }, (_, i) => loud * Math.sin((2 * Math.PI * hz * i) / rate))

/** Each has 440 Hz on the left and 1000 Hz on the right for 0.4 s, but the AIFF file, which has 0.1 s. */
const recorded = ['aac', 'avi', 'flac', 'm4a', 'mkv', 'mov', 'mp3', 'mp4', 'ogg', 'opus', 'webm', 'wma']

describe('audio', () => {
  it.each(recorded)('of the kind %s is decoded, each channel and all together', async (kind) => {
    const path = `test/fixtures/audio/tones.${kind}`
    const [all, left, right] = [
      await decode(path),
      await decode(path, { channel: 0 }),
      await decode(path, { channel: 1 }),
    ]
    expect([all.channels, left.channels]).toEqual([2, 2])
    expect(Math.abs(all.samples.length / 16_000 - 0.4)).toBeLessThan(0.07) // some encoders add silence
    expect(Math.abs(toneIn(all.samples, 440) - 0.25)).toBeLessThan(0.03)
    expect(Math.abs(toneIn(all.samples, 1000) - 0.25)).toBeLessThan(0.03)
    expect(Math.abs(toneIn(left.samples, 440) - 0.5)).toBeLessThan(0.06)
    expect(Math.abs(toneIn(right.samples, 1000) - 0.5)).toBeLessThan(0.06)
    expect([toneIn(left.samples, 1000), toneIn(right.samples, 440)].every((other) => other < 0.02)).toBe(true)
  })

  it('of a WAV or an AIFF file keeps its length', async () => {
    const { samples } = await decodeBytes(wav([tone(440, 44_100, 0.5)], 44_100))
    expect(samples.length).toBe(8000)
    expect(Math.abs(toneIn(samples, 440) - 0.5)).toBeLessThan(0.001)
    expect((await decode('test/fixtures/audio/tones.aiff')).samples.length).toBe(1600)
  })

  it('behind two ID3 tags is found', async () => {
    const tag = Buffer.alloc(10 + 3000)
    tag.write('ID3\x04\0\0', 'latin1')
    tag.writeUInt16BE((23 << 8) | 56, 8) // 3000 in sevens of bits
    const file = Buffer.concat([tag, await readFile('test/fixtures/audio/tones.mp3')])
    expect(Math.abs(toneIn((await decodeBytes(file)).samples, 440) - 0.25)).toBeLessThan(0.03)
  })

  it('in an MP4 file is the same whether the index comes last or first', async () => {
    const last = await readFile('test/fixtures/audio/tones.m4a')
    const [index, media] = [last.indexOf('moov') - 4, last.indexOf('mdat') - 4]
    expect(media).toBeLessThan(index)
    const moov = Buffer.from(last.subarray(index))
    const table = moov.indexOf('stco') + 4
    for (let i = 0; i < moov.readUInt32BE(table + 4); i++) {
      const at = table + 8 + 4 * i
      moov.writeUInt32BE(moov.readUInt32BE(at) + moov.length, at)
    }
    const first = Buffer.concat([last.subarray(0, media), moov, last.subarray(media, index)])
    expect((await decodeBytes(first)).samples).toEqual((await decodeBytes(last)).samples)
  })

  it('that is no number is silence, and too loud is cut', async () => {
    const { samples } = await decodeBytes(
      wav([Float32Array.of(...Array(800).fill(Number.NaN), ...Array(800).fill(9))], 16_000, 'float'),
    )
    expect(samples.every((sample) => Math.abs(sample) <= 1.2)).toBe(true) // the filter swings a little over the edge
    expect(Math.abs(samples[300]!)).toBeLessThan(0.01)
  })

  it('that is longer than allowed is refused, however little of it is heard before', async () => {
    const long = wav([tone(440, 8000, 3)], 8000)
    await expect(decodeBytes(long, { maxSeconds: 2 })).rejects.toMatchObject({
      code: 'media-unsupported',
      message: expect.stringContaining('longer than'),
    })
    expect((await decodeBytes(long, { maxSeconds: 3 })).samples.length).toBe(48_000)
  })

  it('ends with the reason of the signal', async () => {
    const gone = AbortSignal.abort(new Error('gone'))
    await expect(decode('test/fixtures/audio/tones.mp3', { signal: gone })).rejects.toThrow('gone')
  })
})

describe('what is no audio', () => {
  it.each<readonly [what: string, bytes: string, text: RegExp]>([
    ['nothing', '', /is empty/],
    ['a page', '<!doctype html><html>no such file</html>', /no audio that can be read here: it is HTML/],
    ['a picture', '\x89PNG\r\n\x1a\n\0\0\0\0\0', /it is PNG/],
    ['noise', '\x01\x02\x03\x04\x05\x06\x07\x08', /no audio that can be read here$/],
    ['a WAV file without samples', wav([new Float32Array(0)], 8000).toString('latin1'), /has no audio in it/],
    ['a WAV file of no rate', wav([new Float32Array(99)], 0).toString('latin1'), /0 samples a second/],
    ['the head of an MP4 file', '\0\0\0\x14ftypM4A \0\0\0\0M4A ', /no index/],
    ['an MP4 file with boxes of no length', '\0\0\0\x14ftypM4A \0\0\0\0M4A \0\0\0\x01moov\0\0\0\0\0\0\0\0', /no index/],
  ])('is told what it is: %s', async (_what, bytes, text) => {
    const error = await decodeBytes(Buffer.from(bytes, 'latin1')).catch((thrown: Error) => thrown)
    expect(error).toMatchObject({ code: 'media-unsupported', message: expect.stringMatching(text) })
  })

  it('is not kept for ever in the hope of a sound', async () => {
    const frameless = Buffer.alloc(33 * 2 ** 20)
    wav([new Float32Array(0)], 8000).copy(frameless)
    frameless.writeUInt16LE(0, 32) // bytes of a frame
    frameless.writeUInt32LE(0xffffffff, 40) // bytes of audio: nobody knows
    await expect(decodeBytes(frameless)).rejects.toThrow(/too much in it that is no audio/)
  })

  it('cannot claim more than it has', async () => {
    const file = await readFile('test/fixtures/audio/tones.m4a')
    for (const table of ['stsz', 'stco', 'stsc']) {
      const claiming = Buffer.from(file)
      claiming.writeUInt32BE(0xfffffff0, claiming.indexOf(table) + (table === 'stsz' ? 12 : 8))
      await expect(decodeBytes(claiming), table).rejects.toThrow(/claims more than it has/)
    }
  })
})

describe('damaged audio', () => {
  /** Numbers that are the same in each run. */
  function* numbers(seed: number): Generator<number, never> {
    for (let state = seed; ; state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) yield state >>> 8
  }

  it.each(recorded)('of the kind %s is decoded in part or refused', async (kind) => {
    const whole = await readFile(`test/fixtures/audio/tones.${kind}`)
    const random = numbers(7)
    for (let round = 0; round < 6; round++) {
      const file = Buffer.from(round % 2 ? whole.subarray(0, random.next().value % whole.length) : whole)
      for (let i = 0; i < round && file.length > 0; i++)
        file[random.next().value % file.length] = random.next().value & 255
      const result = await decodeBytes(file).catch((thrown: Error) => thrown)
      if (result instanceof Error) expect(result).toMatchObject({ code: 'media-unsupported' })
      else expect(result.samples.length).toBeLessThanOrEqual(60 * 16_000)
    }
  })
})
