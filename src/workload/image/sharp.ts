/**
 * sharp, loaded when the first picture needs it: whoever only reads node declarations must not wait for a native
 * library. One thread a picture and no cache, because the engine's cores belong to the models; no loaders beyond those
 * of plain raster files, because an SVG may draw anything for any length of time.
 */
export async function openSharp() {
  const { default: sharp } = await import('sharp')
  sharp.concurrency(1)
  sharp.cache(false)
  sharp.block({ operation: ['Svg', 'Pdf', 'Magick', 'Openslide'].map((kind) => `VipsForeignLoad${kind}`) })
  return sharp
}
