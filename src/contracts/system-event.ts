import { z } from 'zod'

/** The messages of ComfyUI's websocket that an operator can be called with. */
const comfyEvents = [
  'status',
  'progress',
  'progress_state',
  'executing',
  'execution_start',
  'execution_cached',
  'executed',
  'execution_success',
  'execution_interrupted',
  'execution_error',
] as const

const storageEvents = ['file_downloaded', 'file_uploaded', 'file_deleted'] as const

export type ComfyEvent = `comfy.${(typeof comfyEvents)[number]}`
export type StorageEvent = `storage.${(typeof storageEvents)[number]}`
export type SystemEventName = ComfyEvent | StorageEvent

const names: readonly SystemEventName[] = [
  ...comfyEvents.map((name) => `comfy.${name}` as const),
  ...storageEvents.map((name) => `storage.${name}` as const),
]

/** The events that a list of words asks for: `all`, or names with or without what stands before the dot. */
export const systemEventsSchema = z.array(z.string()).transform((words, { addIssue }): readonly SystemEventName[] => {
  const named = (word: string) => names.find((name) => name === word || name.split('.')[1] === word)
  const unknown = words.filter((word) => word !== 'all' && named(word) === undefined)
  if (unknown.length > 0) addIssue(`unknown: ${unknown.join(', ')}; there are all, ${names.join(', ')}`)
  return words.includes('all') ? names : words.flatMap((word) => named(word) ?? [])
})

/** The body of a call to `SYSTEM_WEBHOOK_URL`; `data` of `comfy.*` is a whole message `{type, data}`. */
export interface SystemEventBody {
  readonly event: SystemEventName
  readonly data: unknown
  /** What the operator and the platform say of this server. */
  readonly metadata: Readonly<Record<string, string>>
}
