import { widget } from '../../graph/node.ts'
import { int } from '../../graph/widget.ts'

/** How tiled autoencoders divide films in time; of no effect on pictures. */
export const temporalInputs = {
  temporal_size: widget(int({ default: 64, min: 8, max: 4096, step: 4 })),
  temporal_overlap: widget(int({ default: 8, min: 4, max: 4096, step: 4 })),
} as const
