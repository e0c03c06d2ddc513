import { posix } from 'node:path'
import type { WorkloadError } from '../base/errors.ts'
import { errorDetails } from './error-details.ts'
import { createNodeStates } from './node-states.ts'
import type { NodeEvent, NodeOutput, ValidPrompt } from './ports.ts'
import type { WatchedJob } from './watchers.ts'

type Data = Readonly<Record<string, unknown>>

/** Who hears what a story tells. */
export interface StorySink {
  /** Sends an event to the client that sent the prompt. */
  send(type: string, data: Data): void
  /** The same for what may be left out when the client is slow or not there; then `data` is not asked for. */
  sendIfFast(type: string, data: () => Data): void
  /** Sends an event to every client. */
  broadcast(type: string, data: Data): void
}

/** One prompt in ComfyUI's words: the events of its run, and what its history tells. */
export interface RunStory {
  readonly stage: 'pending' | 'running' | 'ended'
  /** The node at work. */
  readonly current: string | undefined
  readonly job: WatchedJob
  started(): void
  event(event: NodeEvent): void
  ended(error: WorkloadError | undefined): void
  /** `[number, id, prompt, extra data, outputs]` */
  readonly item: readonly unknown[]
  /** The entry of `/history`. */
  readonly entry: Data
}

/** `now` gives epoch milliseconds. */
export function createRunStory(job: WatchedJob, valid: ValidPrompt, sink: StorySink, now: () => number): RunStory {
  const prompt_id = job.id
  const targets = new Set(valid.outputs)
  const nodes = createNodeStates(prompt_id)
  const executed = new Set<string>()
  let messages: [string, Data][] = []
  let outputs: Record<string, Data> = {}
  let stage: RunStory['stage'] = 'pending'
  let current: string | undefined
  let success = false
  /** Nodes that need not run are told together, before the first that runs. */
  let cached: string[] | undefined

  const record = (type: string, more: Data, everybody = false): void => {
    const data = { ...more, prompt_id, timestamp: now() }
    messages.push([type, data])
    if (everybody) sink.broadcast(type, data)
    else sink.send(type, data)
  }
  const tellCached = (): void => {
    if (!cached) return
    record('execution_cached', { nodes: cached })
    cached = undefined
  }
  const become = (node: string, value: number, max: number, state: 'running' | 'finished' | 'error'): void => {
    nodes.set(node, value, max, state)
    sink.sendIfFast('progress_state', () => ({ prompt_id, nodes: nodes.told(node) }))
  }
  const show = (node: string, output: NodeOutput): void => {
    const ui = uiOf(output)
    if (ui) {
      outputs[node] = ui
      sink.send('executed', { node, display_node: node, output: ui, prompt_id })
    }
    become(node, 1, 1, 'finished')
  }

  return {
    job,
    get stage() {
      return stage
    },
    get current() {
      return current
    },
    started() {
      // An engine that died takes what it told with it.
      messages = []
      outputs = {}
      executed.clear()
      nodes.clear()
      stage = 'running'
      record('execution_start', {})
      cached = []
    },
    event({ kind, node, value = 0, max = 1, output }) {
      if (kind === 'cached' && cached) return void cached.push(node)
      tellCached()
      if (kind === 'started') {
        current = node
        become(node, 0, 1, 'running')
        sink.send('executing', { node, display_node: node, prompt_id })
      } else if (kind === 'progress') {
        become(node, value, max, 'running')
        sink.sendIfFast('progress', () => ({ value, max, prompt_id, node }))
      } else if (kind === 'finished') {
        executed.add(node)
        if (!targets.has(node)) become(node, 1, 1, 'finished')
      } else if (output) show(node, output)
    },
    ended(error) {
      const wasRunning = stage === 'running'
      tellCached()
      stage = 'ended'
      success = error === undefined
      const at = { node_id: current ?? null, node_type: (current && valid.prompt[current]?.class_type) ?? null }
      if (!error) record('execution_success', {})
      else if (error.code === 'cancelled') {
        if (wasRunning) record('execution_interrupted', { ...at, executed: [...executed] }, true)
      } else {
        const failed = error.facts.nodeId ?? current
        if (failed !== undefined) become(failed, 0, 1, 'error')
        record('execution_error', errorDetails(error, failed, valid.prompt, [...executed]))
      }
      current = undefined
    },
    get item() {
      const { auth_token_comfy_org: _, api_key_comfy_org: __, ...extra } = job.request.extra_data ?? {}
      const { clientId } = job.submission ?? {}
      const data = { ...extra, ...(clientId !== undefined && { client_id: clientId }), create_time: job.created }
      return [job.number, job.id, valid.prompt, data, valid.outputs]
    },
    get entry() {
      return {
        prompt: this.item,
        outputs,
        status: { status_str: success ? 'success' : 'error', completed: success, messages },
        meta: Object.fromEntries(
          Object.keys(outputs).map((node) => [
            node,
            { node_id: node, display_node: node, parent_node: null, real_node_id: node },
          ]),
        ),
      }
    },
  }
}

/** What a node shows as ComfyUI's `ui`; undefined when that is nothing. */
function uiOf({ files, texts, animated }: NodeOutput): Data | undefined {
  if (files.length === 0 && texts.length === 0) return undefined
  const images = files.map(({ filename, retention }) => {
    const { dir, base } = posix.parse(filename)
    return { filename: base, subfolder: dir, type: retention }
  })
  return {
    ...(files.length > 0 && { images }),
    ...(animated && { animated: [true] }),
    ...(texts.length > 0 && { text: texts }),
  }
}
