import { linspace } from '../linspace.ts'

/** How levels between two others are spread. */
export type Spacing = 'linear' | 'cosine' | 'sine'

const ease: Readonly<Record<Spacing, (part: number) => number>> = {
  linear: (part) => part,
  cosine: (part) => Math.sin((part * Math.PI) / 2),
  sine: (part) => 1 - Math.cos((part * Math.PI) / 2),
}

/** `sigmas` with every step that begins at a level from `highest` down to `lowest` divided into `steps` steps. */
export function extendedLevels(
  sigmas: Float32Array,
  { steps, highest, lowest, spacing }: Readonly<Record<'steps' | 'highest' | 'lowest', number>> & { spacing: Spacing },
): Float32Array {
  const parts = linspace(0, 1, steps + 1)
    .slice(1, -1)
    .map(ease[spacing])
  const levels = [...sigmas].flatMap((sigma, i) => {
    const next = sigmas[i + 1]
    if (next === undefined || sigma < lowest || sigma > highest) return [sigma]
    return [sigma, ...parts.map((part) => Math.fround(part * Math.fround(next - sigma)) + sigma)]
  })
  return Float32Array.from(levels)
}
