import { freemem, totalmem } from 'node:os'
import { Router } from 'express'
import type { Jobs } from '../../../jobs/jobs.ts'
import { featureFlags } from '../../comfy/feature-flags.ts'
import { methodNotAllowed } from '../../method-not-allowed.ts'

/** The release of ComfyUI whose routes these are. */
const COMFYUI_VERSION = '0.3.64'

/** `GET /system_stats`, `GET /features` and `GET /extensions`. */
export function systemRoute(jobs: Pick<Jobs, 'devices'>, maxUploadBytes: number): Router {
  const router = Router()
  const get = (path: string, answer: () => unknown) =>
    router
      .route(path)
      .get((_request, response) => void response.json(answer()))
      .all(methodNotAllowed('GET', 'HEAD'))
  get('/system_stats', () => ({ system: systemStats(), devices: jobs.devices.map(deviceStats) }))
  get('/features', () => featureFlags(maxUploadBytes))
  get('/extensions', () => [])
  return router
}

/** There is no Python here; clients expect the members all the same. */
const systemStats = () => ({
  os: process.platform === 'win32' ? 'nt' : 'posix',
  ram_total: totalmem(),
  ram_free: freemem(),
  comfyui_version: COMFYUI_VERSION,
  required_frontend_version: null,
  installed_templates_version: null,
  required_templates_version: null,
  python_version: `none (Node.js ${process.versions.node})`,
  pytorch_version: 'none (ONNX Runtime)',
  embedded_python: false,
  argv: [],
})

/** The memory of the machine is that of its processor; that of an accelerator is not known, and told as 0. */
function deviceStats(type: string, position: number) {
  const [total, free] = type === 'cpu' ? [totalmem(), freemem()] : [0, 0]
  const memory = { vram_total: total, vram_free: free, torch_vram_total: total, torch_vram_free: free }
  return {
    name: type === 'cpu' ? 'cpu' : `${type}:${position}`,
    type,
    index: type === 'cpu' ? null : position,
    ...memory,
  }
}
