import type { NodeErrors, NodeFault, ProblemCode } from '../../contracts/problem.ts'

/** What an error may tell beyond its sentence; every member is safe to show to the caller. */
export interface ErrorFacts {
  readonly location?: string | undefined
  readonly errors?: Readonly<Record<string, string[]>> | undefined
  readonly nodeErrors?: NodeErrors | undefined
  /** ComfyUI's fault of the prompt as a whole. */
  readonly graphFault?: NodeFault | undefined
  readonly nodeId?: string | undefined
  readonly nodeType?: string | undefined
  /** Seconds after which trying again makes sense. */
  readonly retryAfter?: number | undefined
}

/** An error the caller is meant to read. Anything else is a bug and becomes `internal`. */
export class WorkloadError extends Error {
  override readonly name = 'WorkloadError'
  readonly code: ProblemCode
  readonly facts: ErrorFacts

  constructor(code: ProblemCode, message: string, options: ErrorFacts & { cause?: unknown } = {}) {
    const { cause, ...facts } = options
    super(message, { cause })
    this.code = code
    this.facts = facts
  }
}

/** How V8, the C++ library, ONNX Runtime and CUDA say it. */
const noMemory = /array buffer allocation failed|bad_?\s?alloc|failed to allocate|out of memory/i

/** Whether there was no memory for something: that passes when memory is freed. */
export function isOutOfMemory(error: unknown): boolean {
  if (error instanceof WorkloadError && error.code !== 'execution-failed') return error.code === 'out-of-memory'
  return noMemory.test(messageOf(error))
}

/** The sentence of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
