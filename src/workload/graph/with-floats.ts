import type { Prompt } from '../../contracts/prompt.ts'
import { PythonFloat } from '../base/python-number.ts'
import { visible } from './input-config.ts'
import type { NodeRegistry } from './node.ts'

/** A validated prompt as ComfyUI writes it into files: it has made floats of what was given for FLOAT inputs. */
export function withFloats<Context, Check>(
  prompt: Prompt,
  registry: NodeRegistry<Context, Check>,
): Readonly<Record<string, unknown>> {
  const entries = Object.entries(prompt).map(([id, node]) => {
    const declared = registry.get(node.class_type)?.inputs ?? {}
    const inputs = Object.entries(node.inputs).map(([name, value]) => {
      const input = Object.hasOwn(declared, name) ? visible(declared[name]!) : undefined
      const isFloat = input?.kind === 'widget' && input.widget.type === 'FLOAT' && typeof value === 'number'
      return [name, isFloat ? new PythonFloat(value) : value]
    })
    return [id, { ...node, inputs: Object.fromEntries(inputs) }]
  })
  return Object.fromEntries(entries)
}
