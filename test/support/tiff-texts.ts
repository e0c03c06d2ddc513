/** The texts of the first directory of a TIFF file by tag, read as TIFF 6.0 §2 says; EXIF is such a file behind `Exif\0\0`. */
export function tiffTexts(exif: Buffer): ReadonlyMap<number, string> {
  const tiff = exif.toString('latin1', 0, 6) === 'Exif\0\0' ? exif.subarray(6) : exif
  const little = tiff.toString('latin1', 0, 2) === 'II'
  const u16 = (at: number) => (little ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at))
  const u32 = (at: number) => (little ? tiff.readUInt32LE(at) : tiff.readUInt32BE(at))
  const directory = u32(4)
  const entries = Array.from({ length: u16(directory) }, (_, i): readonly [number, string] | undefined => {
    const at = directory + 2 + 12 * i
    if (u16(at + 2) !== 2) return undefined
    const length = u32(at + 4)
    const from = length <= 4 ? at + 8 : u32(at + 8)
    return [u16(at), tiff.toString('latin1', from, from + length - 1)]
  })
  return new Map(entries.filter((entry) => entry !== undefined))
}
