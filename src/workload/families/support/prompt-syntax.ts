import { type Marks, markParentheses } from './parentheses.ts'
import { parsePythonFloat } from './python-float.ts'

/** A stretch of a prompt and how much it counts; 1 is plain. */
export interface WeightedText {
  readonly text: string
  readonly weight: number
}

/** What one pair of parentheses multiplies the weight by. */
const EMPHASIS = 1.1

/** The stretch of the prompt from `from` up to `to` that is still to be read. */
interface Stretch {
  readonly from: number
  readonly to: number
  readonly weight: number
  /** A leaf is text as it stands; anything else may hold parentheses. */
  readonly leaf: boolean
}

/**
 * Reads ComfyUI's emphasis syntax: `(x)` counts 1.1 times as much as what is around it, `(x:0.8)` counts exactly 0.8,
 * `\(` and `\)` are plain characters. Parentheses without a partner are text. Every prompt can be read, and weights
 * may be infinite or NaN where the prompt says so.
 *
 * Every character is looked at a bounded number of times and nothing recurses, so depth costs neither time nor stack.
 */
export function parseWeights(prompt: string): readonly WeightedText[] {
  const marks = markParentheses(prompt)
  const waiting: Stretch[] = [{ from: 0, to: prompt.length, weight: 1, leaf: false }]
  const texts: WeightedText[] = []
  for (let stretch = waiting.pop(); stretch; stretch = waiting.pop()) {
    const { from, to, weight, leaf } = stretch
    if (leaf) texts.push({ text: prompt.slice(from, to).replace(/\\([()])/g, '$1'), weight })
    else for (const item of itemsOf(marks, stretch).reverse()) waiting.push(read(item))
  }
  return texts

  /** An item in parentheses becomes what is inside, with its weight; any other is a leaf. */
  function read(item: Stretch): Stretch {
    const { from, to, weight } = item
    if (to - from < 2 || !marks.opens(from) || !marks.closes(to - 1)) return { ...item, leaf: true }
    const inside = { from: from + 1, to: to - 1, weight: weight * EMPHASIS, leaf: false }
    const colon = marks.weightColon(inside.from, inside.to)
    const given = colon === undefined ? undefined : parsePythonFloat(prompt.slice(colon + 1, inside.to))
    return given === undefined ? inside : { ...inside, to: colon!, weight: given }
  }
}

/** `stretch` cut at its outermost parentheses. */
function itemsOf(marks: Marks, { from, to, weight }: Stretch): Stretch[] {
  const items: Stretch[] = []
  let begin = from
  const cut = (end: number) => {
    if (end > begin) items.push({ from: begin, to: end, weight, leaf: false })
    begin = end
  }
  let surplus = 0 // closing parentheses seen without a partner, which later opening ones make up for
  for (let at = from; at < to; at++) {
    if (marks.closes(at)) surplus++
    else if (marks.opens(at) && surplus > 0) surplus--
    else if (marks.opens(at)) {
      cut(at)
      const end = marks.partner(at)
      if (end === undefined || end >= to) break
      cut(end + 1)
      at = end
    }
  }
  cut(to)
  return items
}
