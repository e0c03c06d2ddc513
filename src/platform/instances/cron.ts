interface Field {
  readonly min: number
  readonly max: number
  readonly names?: readonly string[]
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']

const fields: readonly Field[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: MONTHS },
  { min: 0, max: 7, names: DAYS },
]

/** Whether a schedule includes the minute that contains `time` (epoch milliseconds), in UTC. */
export type Cron = (time: number) => boolean

/** Reads minute, hour, day, month and weekday; undefined when one of them makes no sense. */
export function parseCron(schedule: string): Cron | undefined {
  const words = schedule
    .trim()
    .toLowerCase()
    .split(/[\t ]+/)
  const sets = fields.map((field, i) => valuesOf(words[i] ?? '', field))
  const [minutes, hours, days, months, weekdays] = sets
  if (words.length !== fields.length || !minutes || !hours || !days || !months || !weekdays) return undefined
  // Where both kinds of day are given, either is enough.
  const either = !words[2]?.startsWith('*') && !words[4]?.startsWith('*')
  return (time) => {
    const date = new Date(time)
    const day = days.has(date.getUTCDate())
    const weekday = weekdays.has(date.getUTCDay()) || (date.getUTCDay() === 0 && weekdays.has(7))
    return (
      minutes.has(date.getUTCMinutes()) &&
      hours.has(date.getUTCHours()) &&
      months.has(date.getUTCMonth() + 1) &&
      (either ? day || weekday : day && weekday)
    )
  }
}

function valuesOf(word: string, field: Field): ReadonlySet<number> | undefined {
  const values = new Set<number>()
  for (const part of word.split(',')) {
    const [range = '', step, ...more] = part.split('/')
    const [first, last, ...beyond] = range === '*' ? [field.min, field.max] : range.split('-').map(numberIn(field))
    const stride = step === undefined ? 1 : Number(/^\d+$/.test(step) ? step : 0)
    if (first === undefined || more.length > 0 || beyond.length > 0 || stride < 1) return undefined
    const end = last ?? (step === undefined ? first : field.max)
    if (!(first >= field.min && first <= end && end <= field.max)) return undefined
    for (let value = first; value <= end; value += stride) values.add(value)
  }
  return values
}

const numberIn =
  ({ min, names = [] }: Field) =>
  (word: string): number => {
    const named = names.indexOf(word)
    return named < 0 ? Number(/^\d+$/.test(word) ? word : Number.NaN) : named + min
  }
