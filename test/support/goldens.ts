import { readFileSync } from 'node:fs'

/** The reference numbers of `test/fixtures/goldens/<name>.json`; their README gives the schema. */
export function readGoldens<T>(name: string): T {
  const file = new URL(`../fixtures/goldens/${name}.json`, import.meta.url)
  return JSON.parse(readFileSync(file, 'utf8')) as T // the schema is the fixtures' own
}
