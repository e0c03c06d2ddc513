import { describe, expect, it } from 'vitest'
import { alignmentCosts } from '../../../src/workload/speech/align-attention.ts'
import { cheapestPath } from '../../../src/workload/speech/align-path.ts'
import { timesByLength } from '../../../src/workload/speech/align-words.ts'
import { tensor } from '../../../src/workload/tensor/tensor.ts'

describe('the alignment of tokens', () => {
  it('takes the cheapest way from the first token and place to the last', () => {
    // 0 where a token belongs.
    const costs = [
      [0, 0, 1, 1, 1],
      [1, 1, 0, 1, 1],
      [1, 1, 1, 0, 0],
    ]
    expect(cheapestPath({ rows: 3, columns: 5, values: Float32Array.from(costs.flat()) })).toEqual([0, 2, 3])
  })

  it('lets tokens share a place where there are fewer places than tokens', () => {
    const begins = cheapestPath({ rows: 4, columns: 2, values: new Float32Array(8) })
    expect(begins).toHaveLength(4)
    expect(begins.every((begin, i) => begin >= (begins[i - 1] ?? 0) && begin < 2)).toBe(true)
    expect(cheapestPath({ rows: 2, columns: 0, values: new Float32Array(0) })).toEqual([0, 0])
  })

  it('follows the heads that look where a token is spoken, and no others', () => {
    const [tokens, places] = [5, 60]
    // Head 0 looks at ten places a token in turn, head 1 at the beginning always.
    const looks = Float32Array.from({ length: 2 * tokens * places }, (_, i) => {
      const [head, token, place] = [Math.floor(i / (tokens * places)), Math.floor(i / places) % tokens, i % places]
      return (head === 0 ? Math.floor(place / 12) === token : place < 5) ? 0.1 : 0.001
    })
    const attentions = new Map([[0, tensor([1, 2, tokens, places], looks)]])
    const costs = alignmentCosts(attentions, { heads: [[0, 0]], rows: [1, 5], places: [12, 60] })
    expect(cheapestPath(costs)).toEqual([0, 12, 24, 36])
  })
})

describe('times without any attention', () => {
  it('follow the lengths of the words', () => {
    const words = [' ab', ' abcd', ' ab'].map((word) => ({ word, from: 0, to: 1, spoken: 0 }))
    expect(timesByLength(words, 10, 26)).toEqual([
      [10, 14],
      [14, 22],
      [22, 26],
    ])
  })
})
