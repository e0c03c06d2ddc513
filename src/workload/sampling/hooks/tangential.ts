import type { GuidanceHook } from '../../model/guidance.ts'
import { combined } from '../../tensor/tensor.ts'
import { rowProducts, scaledRows } from '../row-statistics.ts'

/**
 * Tangential damping (Kwon et al. 2025): of the negative's direction only the part along the main direction that it
 * shares with the positive's, their first right singular vector, remains.
 */
export const tangentialGuidance: GuidanceHook = Object.freeze({
  before(guesses) {
    const { x, positive, negative } = guesses
    if (!negative) return guesses
    const [towards, away] = [combined([1, x], [-1, positive]), combined([1, x], [-1, negative])]
    const [a, b, c] = [rowProducts(away, away), rowProducts(away, towards), rowProducts(towards, towards)]
    const parts = Array.from(a, (square, row) => projectionOf(square, b[row]!, c[row]!))
    const own = scaledRows(
      away,
      parts.map((part) => part.away),
    )
    const other = scaledRows(
      towards,
      parts.map((part) => part.towards),
    )
    const kept = combined([1, own], [1, other])
    return { ...guesses, negative: combined([1, x], [-1, kept]) }
  },
} satisfies GuidanceHook)

/**
 * What multiples of two vectors make up the part of the first along the first right singular vector v of both. With the
 * Gram matrix [[a, b], [b, c]] and its first eigenvector (s, t), v is (s·away + t·towards)/σ and away·v is σ·s.
 */
function projectionOf(a: number, b: number, c: number): Readonly<Record<'away' | 'towards', number>> {
  const angle = 0.5 * Math.atan2(2 * b, a - c)
  const [s, t] = [Math.cos(angle), Math.sin(angle)]
  return { away: s * s, towards: s * t }
}
