import { z } from 'zod'

type Input = { readonly input?: unknown }

/** What is wrong with a member that is missing, or that is there and of another kind. */
const fault = (reason: string) => ({
  error: ({ input }: Input) => (input === undefined || input === null ? 'is required' : reason),
})

/** An integer within bounds, both included. */
export const integer = (min: number, max: number) => {
  const reason = `must be an integer from ${min} to ${max}`
  return z.number(fault(reason)).refine((value) => Number.isInteger(value) && value >= min && value <= max, reason)
}

/** Text of so many characters. */
export const text = (min: number, max: number) => {
  const reason = `must be a text of ${min} to ${max} characters`
  return z.string(fault(reason)).refine((value) => value.length >= min && value.length <= max, reason)
}

export const flag = () => z.boolean(fault('must be true or false'))

/** One of a few words. */
export const oneOf = <const Words extends readonly [string, ...string[]]>(words: Words) =>
  z.enum(words, fault(`must be one of ${words.join(', ')}`))

/** A list of so many items. */
export const list = <Item extends z.ZodType>(item: Item, min: number, max: number) => {
  const reason = `must be a list of ${min} to ${max} items`
  return z.array(item, fault(reason)).refine((items) => items.length >= min && items.length <= max, reason)
}

/** An object; unknown members are dropped. */
export const record = <Shape extends z.ZodRawShape>(shape: Shape) => z.object(shape, fault('must be an object'))

/** A header or a tag. */
export const pair = (name: z.ZodType<string>, value: z.ZodType<string>) => record({ name, value })

/** A lower-case or upper-case UUID, given on in lower case. */
export const uuid = () => z.guid(fault('must be a UUID')).transform((id) => id.toLowerCase())
