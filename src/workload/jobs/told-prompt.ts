import type { Prompt } from '../../contracts/prompt.ts'
import { maskedUrl } from '../base/credentials.ts'

/** Longer texts in a place for a picture are the picture. */
const LONGEST_NAME = 255

/**
 * A prompt as receivers are told of it before, or without, its inputs being here: URLs without what is secret in them, and
 * no pictures. `named` is the same prompt with the names of the inputs that are known.
 */
export function toldPrompt(asked: Prompt, named: Prompt = asked): Prompt {
  const told = (value: unknown, name: unknown, input: string): unknown => {
    if (typeof value !== 'string') return name
    if (/^(https?|s3):\/\//i.test(value)) return maskedUrl(value)
    const isPicture = input === 'image' && (/^data:/i.test(value) || value.length > LONGEST_NAME)
    return isPicture && name === value ? '(the picture that was sent)' : name
  }
  return Object.fromEntries(
    Object.entries(named).map(([id, node]) => {
      const own = asked[id]?.inputs ?? {}
      const inputs = Object.entries(node.inputs).map(([input, name]) => [input, told(own[input], name, input)])
      return [id, { ...node, inputs: Object.fromEntries(inputs) }]
    }),
  )
}
