import { listImages } from '../../image/load.ts'
import { loadSamplers } from '../../sampling/load-samplers.ts'
import { loadSchedulers } from '../../sampling/load-schedulers.ts'
import type { Catalogue } from './define.ts'

/** What nodes may offer a choice of: samplers and schedulers as discovered, files as they are when asked. */
export async function loadCatalogue(files: Catalogue['files'], inputDir: string): Promise<Catalogue> {
  const [samplers, schedulers] = await Promise.all([loadSamplers(), loadSchedulers()])
  return { samplers, schedulers, files, inputImages: () => listImages(inputDir) }
}
