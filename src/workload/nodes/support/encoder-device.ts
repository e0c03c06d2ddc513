import { choice } from '../../graph/widget.ts'

/** Where a text encoder is wanted to run. It computes the same anywhere, so it runs where the engine does. */
export const encoderDevice = choice(['default', 'cpu'], { advanced: true })
