/** What Python counts as space: its own separators too, but no byte order mark. */
export const SPACE = String.raw`\t-\r\x1c- \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000`

/** `text` without the space at its begin and end, or at one of both. */
export function stripped(text: string, side: 'Both' | 'Left' | 'Right'): string {
  const left = side === 'Right' ? text : text.replace(new RegExp(`^[${SPACE}]+`), '')
  if (side === 'Left') return left
  let end = left.length
  while (end > 0 && space.test(left[end - 1]!)) end--
  return left.slice(0, end)
}

const space = new RegExp(`[${SPACE}]`)

/** Python's `str.capitalize()`: the first character large, all others small. */
export function capitalized(text: string): string {
  const [first = ''] = text
  return initial(first) + tailOf(text, first)
}

/** Python's `str.title()`: each run of cased letters begins large and goes on small, also behind an apostrophe. */
export function titleCased(text: string): string {
  return text.replace(/\p{Cased}+/gu, (word) => {
    const [first = ''] = word
    return initial(first) + tailOf(word, first)
  })
}

/** All but the first character, small; a sigma that ends a word is seen with what stands before it. */
const tailOf = (word: string, first: string): string => word.toLowerCase().slice(first.toLowerCase().length)

/** One character as it begins a word: of a ligature or digraph only the first letter is large. */
function initial(character: string): string {
  const digraph = digraphs.get(character.toUpperCase())
  if (digraph !== undefined) return digraph
  if (/\p{Script=Georgian}/u.test(character)) return character
  const [first = '', ...rest] = character.toUpperCase()
  return first + rest.join('').toLowerCase()
}

const digraphs: ReadonlyMap<string, string> = new Map([
  ['Ǆ', 'ǅ'],
  ['Ǉ', 'ǈ'],
  ['Ǌ', 'ǋ'],
  ['Ǳ', 'ǲ'],
])

/** What begins at `start` and ends before `end`, counted in characters; below nought from the end, as Python's slices. */
export function sliced(text: string, start: number, end: number): string {
  return Array.from(text).slice(start, end).join('')
}
