/** A sample by its name and exactly these labels; undefined when there is none. */
export type Sample = (name: string, labels?: Readonly<Record<string, string>>) => number | undefined

/** Reads the text format of Prometheus, of which label values without quotes and backslashes are all that we write. */
export function samplesOf(text: string): Sample {
  const samples = new Map<string, number>()
  for (const line of text.split('\n')) {
    const [, name, labels = '', value] = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
    if (name !== undefined)
      samples.set(`${name} ${(labels.match(/\w+="[^"]*"/g) ?? []).sort().join(',')}`, Number(value))
  }
  return (name, labels = {}) => {
    const pairs = Object.entries(labels).map(([label, value]) => `${label}="${value}"`)
    return samples.get(`${name} ${pairs.sort().join(',')}`)
  }
}
