import type { Conditioning } from '../../model/conditioning.ts'
import type { AppliedControl, ControlModel } from '../../model/control.ts'
import { channelsFirst } from '../../tensor/channels.ts'
import type { Tensor } from '../../tensor/tensor.ts'

/** A control network's hint `[N, H, W, 3]` and where and how strongly it steers. */
export interface ControlSettings extends Omit<AppliedControl, 'control' | 'hint'> {
  readonly control: ControlModel
  readonly image: Tensor
}

/**
 * Each of `conditionings` with the control hung on every entry, behind those that hang there. One object for all of
 * them: entries whose controls are the same objects are shown to the networks together.
 */
export function withControl(
  conditionings: readonly Conditioning[],
  { image, ...settings }: ControlSettings,
): readonly Conditioning[] {
  const applied: AppliedControl = { ...settings, hint: channelsFirst(image) }
  return conditionings.map((entries) =>
    entries.map((entry) => ({ ...entry, controls: [...(entry.controls ?? []), applied] })),
  )
}
