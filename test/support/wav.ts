/** A WAV file of these channels, all of one length; 16 bits an integer, or 32 of a floating-point number. */
export function wav(channels: readonly Float32Array[], rate: number, kind: 'int' | 'float' = 'int'): Buffer {
  const [frames, bytes] = [channels[0]!.length, kind === 'int' ? 2 : 4]
  const block = bytes * channels.length
  const file = Buffer.alloc(44 + frames * block)
  file.write('RIFF', 0, 'latin1')
  file.writeUInt32LE(file.length - 8, 4)
  file.write('WAVEfmt ', 8, 'latin1')
  file.writeUInt32LE(16, 16)
  file.writeUInt16LE(kind === 'int' ? 1 : 3, 20)
  file.writeUInt16LE(channels.length, 22)
  file.writeUInt32LE(rate, 24)
  file.writeUInt32LE(rate * block, 28)
  file.writeUInt16LE(block, 32)
  file.writeUInt16LE(bytes * 8, 34)
  file.write('data', 36, 'latin1')
  file.writeUInt32LE(frames * block, 40)
  for (const [c, channel] of channels.entries())
    for (const [i, sample] of channel.entries()) {
      const at = 44 + i * block + c * bytes
      if (kind === 'int') file.writeInt16LE(Math.round(sample * 32_767), at)
      else file.writeFloatLE(sample, at)
    }
  return file
}
