import type { OutputFormat, OutputOptions } from '../../contracts/convert-output.ts'
import { discover } from '../base/discover.ts'
import type { RawImage } from './pixels.ts'

/** A file format that a prompt's images can be converted to. One file each in `formats/`. */
export interface Format {
  /** The words that ask for it; the word used becomes the file's extension. */
  readonly names: readonly OutputFormat[]
  readonly mime: string
  /** The most pixels a side can have. */
  readonly maxSide: number
  /** The whole file, without metadata. `options` are those the request's schema let through for this format. */
  encode(image: RawImage, options: unknown): Promise<Buffer>
  /** An encoded file with `texts` where ComfyUI's clients look for them; a format without a place for them leaves them out. */
  withMetadata?(file: Buffer, texts: Readonly<Record<string, unknown>>): Buffer
}

/** Declares a format; `encode` gets the options of its own names. */
export const defineFormat = <const F extends OutputFormat>(
  format: Omit<Format, 'names' | 'encode'> & {
    readonly names: readonly F[]
    encode(image: RawImage, options: OutputOptions<F>): Promise<Buffer>
  },
): Format => Object.freeze(format)

/** Every format in `formats/`, by each of its names. Throws when two share one. */
export async function loadFormats(): Promise<ReadonlyMap<string, Format>> {
  const asFormat = (exported: unknown) =>
    typeof exported === 'object' && exported !== null && 'names' in exported && 'encode' in exported
      ? (exported as Format) // made by defineFormat, which is the only way to have both
      : undefined
  const units = await discover(new URL('formats/', import.meta.url), asFormat, ({ names }) => names.join())
  const formats = new Map<string, Format>()
  for (const format of units.values())
    for (const name of format.names) {
      if (formats.has(name)) throw new Error(`two image formats are called ${name}`)
      formats.set(name, format)
    }
  return formats
}
