import type { Log } from '../../common/log.ts'
import type { NodeEvent, Picture, Sketch } from './protocol.ts'

/** Turns the sketches of one run into previews. */
export interface Previewing {
  /** Drops the sketch while the one before it is still being encoded. */
  show(sketch: Sketch): void
}

/** `onPreview` is told of each preview; a sketch that cannot be encoded is one preview less. */
export function createPreviewing(
  encode: (picture: Picture) => Promise<Uint8Array>,
  log: Pick<Log, 'warn'>,
  onPreview: (event: NodeEvent) => void,
): Previewing {
  let encoding = false
  const show = async ({ node, value, max, picture }: Sketch): Promise<void> => {
    encoding = true
    try {
      const preview = await encode(picture)
      onPreview({ kind: 'preview', node, at: Date.now(), value, max, preview })
    } catch (error) {
      log.warn({ node, err: error }, 'a preview could not be made')
    } finally {
      encoding = false
    }
  }
  return {
    show(sketch) {
      if (!encoding) void show(sketch)
    },
  }
}
