/** `part` of a checkpoint, or an error that says which part the file lacks. */
export function present<T>(part: T | undefined, name: string): T {
  if (part === undefined)
    throw new Error(`the checkpoint has no ${name}: load one from a file of its own, or use another checkpoint`)
  return part
}
