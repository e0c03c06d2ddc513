import { ImageUnavailable, type Launcher } from '../../../src/platform/instances/launcher.ts'

/** Images by the end of their names: one that cannot be had, and one that never comes. */
export const images = {
  usual: 'registry.test/usual:1',
  missing: 'registry.test/missing:1',
  slow: 'registry.test/slow:1',
}

/** Containers that are nothing but a port, where all of them listen: what they run is not the point. */
export const createStandIn = (port: () => number): Launcher => ({
  async prepare({ image }) {
    if (image === images.missing) throw new ImageUnavailable('The image cannot be had.')
    if (image === images.slow) await new Promise(() => undefined)
    return {}
  },
  async start() {
    let end: (code: number) => void = () => undefined
    const ended = new Promise<number>((resolve) => {
      end = resolve
    })
    return { portOf: port, ended, stop: async () => end(143), exec: async () => 0 }
  },
  leave: async () => undefined,
  sweep: async () => undefined,
})
