// Makes assets/clip/merges.txt.gz: the part of OpenAI's `bpe_simple_vocab_16e6.txt.gz` (the file of the CLIP project)
// that the vocabulary of 49,408 tokens is made of. Not needed to install, run or test.
//
//   node tools/clip-merges.mjs path/to/bpe_simple_vocab_16e6.txt.gz
import { readFileSync, writeFileSync } from 'node:fs'
import { gunzipSync, gzipSync } from 'node:zlib'

/** The vocabulary less the 256 bytes, each also as the end of a word, and the two special tokens. */
const MERGES = 49408 - 2 * 256 - 2

const [source] = process.argv.slice(2)
if (!source) throw new Error('usage: node tools/clip-merges.mjs path/to/bpe_simple_vocab_16e6.txt.gz')

const lines = gunzipSync(readFileSync(source)).toString('utf8').split('\n')
const kept = lines.slice(0, 1 + MERGES) // one line of comment first
if (!kept[0].includes('version') || kept.slice(1).some((line) => line.split(' ').length !== 2))
  throw new Error(`${source} is not the merges file of CLIP`)

const target = new URL('../assets/clip/merges.txt.gz', import.meta.url)
writeFileSync(target, gzipSync(`${kept.join('\n')}\n`, { level: 9 }))
process.stdout.write(`${target.pathname}: ${MERGES} merges\n`)
