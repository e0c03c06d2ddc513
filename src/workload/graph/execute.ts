import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ProblemCode } from '../../contracts/problem.ts'
import type { Prompt } from '../../contracts/prompt.ts'
import { isOutOfMemory, messageOf, WorkloadError } from '../base/errors.ts'
import type { Outcome, ResultCache } from './cache.ts'
import type { HiddenValues, NodeRegistry, RunContext } from './node.ts'
import { type Plan, plan } from './plan.ts'
import { flowsInto, runNode } from './run-node.ts'
import { sign } from './signature.ts'

/** What happens to a node of a running prompt. */
export type ExecutionEvent =
  /** It need not run: its result, or that of all who need it, is known. */
  | { readonly kind: 'cached'; readonly node: string }
  | { readonly kind: 'started'; readonly node: string }
  | { readonly kind: 'finished'; readonly node: string }
  | {
      readonly kind: 'progress'
      readonly node: string
      readonly value: number
      readonly max: number
      /** Makes what the node has so far visible; to be called at once or not at all. */
      readonly sketch?: (() => unknown) | undefined
    }

/** What an output node handed to the host. */
export interface Emitted {
  readonly node: string
  readonly artifacts: readonly unknown[]
}

export interface Execution<Context extends RunContext> {
  /** As `validate` returned it. */
  readonly prompt: Prompt
  readonly outputs: readonly string[]
  readonly registry: NodeRegistry<Context>
  readonly cache: ResultCache
  /** What a node sees while it runs. The run may outlive this prompt if another waits for the same result. */
  readonly contextFor: (run: RunContext) => Context
  readonly signal: AbortSignal
  /** The client's `extra_data.extra_pnginfo`. */
  readonly pngInfo: HiddenValues['EXTRA_PNGINFO']
  readonly onEvent: (event: ExecutionEvent) => void
  /**
   * Told what an output emitted as soon as it has; the next node waits for it, and what it throws ends the run. Nothing
   * is returned then, because pictures that were told of need not stay in memory until the end.
   */
  readonly onOutput?: (emitted: Emitted) => Promise<void>
  /** Frees what memory it can when a node found none, and the node is tried once more; without it the prompt fails. */
  readonly freeMemory?: () => Promise<void>
}

/**
 * Runs what the outputs need and no cache holds, each node once and after its sources, and returns what the outputs
 * emitted, in the order of `outputs`. Throws `execution-failed` with the node's id, class and message, a
 * WorkloadError of the node's own with its id and class added, or `cancelled`.
 */
export async function execute<Context extends RunContext>(execution: Execution<Context>): Promise<readonly Emitted[]> {
  const { prompt, outputs, registry, cache, contextFor, signal, pngInfo, onEvent, onOutput, freeMemory } = execution
  const { order, links } = plan(prompt, outputs, registry)
  const context = contextFor({ signal, progress: () => undefined })
  const keys = await sign({ prompt, order, registry, context })
  checkIn(signal)
  const { results, pending, uses } = survey(order, links, outputs, (id) => {
    const key = keys.get(id)
    return key === undefined ? undefined : cache.get(key)
  })
  for (const node of order) if (!pending.has(node)) onEvent({ kind: 'cached', node })

  const run = async (id: string): Promise<Outcome> => {
    const { class_type, inputs } = prompt[id]!
    const node = registry.get(class_type)!
    const slotOf = (source: string, slot: number) => results.get(source)!.slots[slot]!
    const key = keys.get(id)
    const known = key === undefined ? undefined : cache.get(key)
    if (known) {
      onEvent({ kind: 'cached', node: id })
      return known
    }
    onEvent({ kind: 'started', node: id })
    const hidden = { PROMPT: prompt, EXTRA_PNGINFO: pngInfo, UNIQUE_ID: id }
    const resolve = () =>
      cache.resolve(
        key,
        signal,
        async (shared, progress) =>
          runNode(node, flowsInto(node, inputs, slotOf, hidden), contextFor({ signal: shared, progress })),
        (value, max, sketch) => onEvent({ kind: 'progress', node: id, value, max, sketch }),
      )
    const { result } = await resolve().catch(async (error: unknown) => {
      if (!freeMemory || signal.aborted || !isOutOfMemory(error)) throw error
      await freeMemory()
      return resolve()
    })
    onEvent({ kind: 'finished', node: id })
    return result
  }

  const emitted = new Map<string, Emitted>()
  const wanted = new Set(outputs)
  for (const id of order) {
    if (pending.has(id)) {
      await nextTurn()
      checkIn(signal)
      const result = await run(id).catch((cause: unknown) => {
        checkIn(signal)
        throw failureOf(id, prompt[id]!.class_type, cause)
      })
      results.set(id, result)
      for (const [source] of links.get(id)!) {
        const left = uses.get(source)! - 1
        uses.set(source, left)
        if (left === 0) results.delete(source) // a prompt holds no more than it still needs
      }
    }
    if (wanted.has(id)) {
      const output = { node: id, artifacts: results.get(id)!.artifacts }
      if (onOutput) await onOutput(output)
      else emitted.set(id, output)
    }
    if (!uses.get(id)) results.delete(id)
  }
  return outputs.flatMap((id) => emitted.get(id) ?? [])
}

/** What is known already, what has to run, and how many links of it will read each result. */
function survey(
  order: readonly string[],
  links: Plan['links'],
  outputs: readonly string[],
  known: (id: string) => Outcome | undefined,
) {
  const results = new Map<string, Outcome>()
  const pending = new Set<string>()
  const uses = new Map<string, number>()
  const needed = new Set(outputs)
  for (const id of order.toReversed()) {
    if (!needed.has(id)) continue
    const result = known(id)
    if (result) results.set(id, result)
    else {
      pending.add(id)
      for (const [source] of links.get(id)!) {
        needed.add(source)
        uses.set(source, (uses.get(source) ?? 0) + 1)
      }
    }
  }
  return { results, pending, uses }
}

/** Throws if the prompt was cancelled, whatever else went wrong then. */
function checkIn(signal: AbortSignal): void {
  if (signal.aborted) throw new WorkloadError('cancelled', 'the prompt was cancelled', { cause: signal.reason })
}

/** Faults of computing: what they say is of the model at hand, and does not tell which node had it. */
const ofComputing: ReadonlySet<ProblemCode> = new Set<ProblemCode>(['execution-failed', 'out-of-memory'])

function failureOf(nodeId: string, nodeType: string, cause: unknown): WorkloadError {
  const own = cause instanceof WorkloadError ? cause : undefined
  const code = own?.code ?? 'execution-failed'
  const message = ofComputing.has(code) ? `Node ${nodeId} (${nodeType}): ${messageOf(cause)}` : messageOf(cause)
  return new WorkloadError(code, message, { ...own?.facts, nodeId, nodeType, cause })
}
