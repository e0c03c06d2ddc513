import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { wordsOf } from '../../../src/workload/speech/align-words.ts'
import { readVocabulary, textOf, type Vocabulary } from '../../../src/workload/speech/tokens.ts'
import type { WhisperFiles } from '../../../src/workload/speech/whisper-files.ts'
import { emptyFolder } from '../../support/folder.ts'
import { tinyWhisper } from '../../support/speech.ts'

const file = join(tinyWhisper, 'tokenizer.json')
const read = (files: Partial<WhisperFiles>): Promise<Vocabulary> => readVocabulary(files as WhisperFiles) // reads only these

async function table(): Promise<Readonly<Record<string, number>>> {
  const { model } = JSON.parse(await readFile(file, 'utf8')) as { model: { vocab: Record<string, number> } }
  return model.vocab
}

/** The tokens of these entries of the table. */
async function tokensOf(...entries: readonly string[]): Promise<readonly number[]> {
  const known = await table()
  return entries.map((entry) => known[entry]!)
}

describe('tokens', () => {
  it('become the text whose bytes they are, however the bytes are spread over them', async () => {
    const vocabulary = await read({ tokenizer: file })
    const tokens = await tokensOf('Ġthe', 'Ġ', 'g', 'r', 'Ã', '¼', 'n', 'Ã¤', 'ing', 'ðŁ', 'ĺĢ')
    expect(textOf(vocabulary, tokens)).toBe(' the grünäing😀')
  })

  it('that end within a character end with the sign for what cannot be read', async () => {
    const vocabulary = await read({ tokenizer: file })
    expect(textOf(vocabulary, await tokensOf('a', 'Ã'))).toBe('a�')
    expect(textOf(vocabulary, await tokensOf('¤', 'a'))).toBe('�a')
  })

  it('that steer the model are no text', async () => {
    const vocabulary = await read({ tokenizer: file })
    const end = vocabulary.special.get('<|endoftext|>')!
    expect(textOf(vocabulary, [end, ...(await tokensOf('a')), vocabulary.special.get('<|0.40|>')!])).toBe('a')
  })

  it('are read from vocab.json and added_tokens.json as well', async () => {
    const folder = await emptyFolder()
    const vocabulary = join(folder, 'vocab.json')
    const addedTokens = join(folder, 'added_tokens.json')
    const { special } = await read({ tokenizer: file })
    await writeFile(vocabulary, JSON.stringify(await table()))
    await writeFile(addedTokens, JSON.stringify(Object.fromEntries(special)))
    const again = await read({ vocabulary, addedTokens })
    expect(again.special).toEqual(special)
    expect(textOf(again, await tokensOf('Ġthe', '!'))).toBe(' the!')
  })

  it('are refused when the file is something else', async () => {
    const other = join(await emptyFolder(), 'tokenizer.json')
    await writeFile(other, '[]')
    await expect(read({ tokenizer: other })).rejects.toMatchObject({ code: 'model-unsupported' })
  })
})

describe('words', () => {
  const words = async (language: string, ...entries: readonly string[]) =>
    wordsOf(await read({ tokenizer: file }), await tokensOf(...entries), language).map(({ word }) => word)

  it('begin at blanks and keep the marks behind them', async () => {
    expect(await words('en', 'Ġthe', 'Ġ', 'c', 'a', 't', "'", 's', '!', '?', 'Ġ', '-', 'Ġ')).toEqual([
      ' the',
      " cat's!?",
      ' -',
    ])
  })

  it('are characters where the language has no blanks', async () => {
    // 日本。 is three characters of three bytes each.
    expect(await words('ja', 'æ', 'Ĺ', '¥', 'æ', 'ľ', '¬', 'ã', 'Ģ', 'Ĥ')).toEqual(['日', '本。'])
  })

  it('know their tokens, and the first that is no blank', async () => {
    const vocabulary = await read({ tokenizer: file })
    expect(wordsOf(vocabulary, await tokensOf('Ġ', 'Ã', '¤', 'Ġthe'), 'de')).toEqual([
      { word: ' ä', from: 0, to: 3, spoken: 1 },
      { word: ' the', from: 3, to: 4, spoken: 3 },
    ])
  })
})
