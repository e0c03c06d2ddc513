import { compactUpscalerGraph, readCompactConfig } from '../../architectures/compact-upscaler.ts'
import { esrganGraph, readEsrganConfig } from '../../architectures/esrgan.ts'
import { WorkloadError } from '../../base/errors.ts'
import type { Upscaler } from '../../model/ports.ts'
import type { SafetensorsFile } from '../../weights/safetensors.ts'
import { rrdbView, unwrapped } from '../../weights/upscaler-layout.ts'
import { keyOf } from './checkpoint-file.ts'
import { describeFile } from './describe-file.ts'
import type { FamilyServices } from './family.ts'
import { createUpscaler } from './upscaler.ts'

/** Tensors by whose names other enlarging networks are known. */
const others: readonly (readonly [name: RegExp, network: string])[] = [
  [/^layers\.0\.residual_group\.overlap_attn\./, 'HAT'],
  [/^layers\.0\.residual_group\.blocks\.0\.attn\.logit_scale$/, 'Swin2SR'],
  [/^layers\.0\.residual_group\.blocks\.0\./, 'SwinIR'],
  [/^layers\.0\.blocks\.\d+\.attn\.(attns|dwconv)\./, 'DAT'],
  [/^layers\.0\.blocks\.\d+\.attn\.rpi_/, 'DRCT, RGT or ATD'],
  [/^residual_layer\.0\.residual_layer\.0\./, 'OmniSR'],
  [/^block_1\.c1_r\./, 'SPAN'],
  [/^feats\.0\.weight$/, 'PLKSR'],
  [/^unet1\.conv1\.conv\.0\./, 'Real-CUGAN'],
  [/^(m_head|m_body)\.0\./, 'SCUNet'],
  [/^gblocks\.0\./, 'DITN or MoSR'],
  [/^(stylegan_decoder|position_emb)/, 'GFPGAN or CodeFormer, which restore faces'],
  [/^conv_first\.weight$/, 'a network of residual blocks that is no ESRGAN'],
]

/** An enlarging network. Throws `execution-failed` that names the kinds that are not supported. */
export function openUpscaler(file: SafetensorsFile, name: string, services: FamilyServices): Upscaler {
  const view = unwrapped(file)
  const key = keyOf(file)
  const rrdb = rrdbView(view)
  const esrgan = rrdb && readEsrganConfig(rrdb)
  if (esrgan) return createUpscaler({ key, view: rrdb, ...esrgan, graph: esrganGraph }, services)
  const compact = readCompactConfig(view)
  if (compact) return createUpscaler({ key, view, ...compact, graph: compactUpscalerGraph }, services)
  const kind = rrdb
    ? 'an ESRGAN network for pictures of other than three channels'
    : (others.find(([pattern]) => view.names.some((each) => pattern.test(each)))?.[1] ?? describeFile(file))
  throw new WorkloadError(
    'execution-failed',
    `${name} is not supported as an upscale model: it is ${kind}; ESRGAN, Real-ESRGAN and its compact networks are`,
  )
}
