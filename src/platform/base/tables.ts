import type { ColumnType, Generated } from 'kysely'

/** Read as Date; written as Date or ISO text. */
type Time = ColumnType<Date, Date | string, Date | string>
/** Read parsed; written as JSON text. */
type Json<T> = ColumnType<T, string, string>

/** What a group asked of its nodes. */
export interface EventResources {
  /** Virtual CPUs. */
  readonly cpu: number
  /** MB. */
  readonly memory: number
  /** Bytes. */
  readonly storage_amount: number
  /** Ids. */
  readonly gpu_classes: readonly string[]
}

/** Everything the platform remembers. Names in columns are those of the wire where there is one. */
export interface Tables {
  organizations: { id: string; name: string; create_time: Time; webhook_secret: string | null }
  projects: { id: string; organization_id: string; name: string; create_time: Time }
  users: { id: string; name: string; key_digest: string | null }
  memberships: { user_id: string; organization_id: string }
  /** Fixed windows of counted requests and actions. */
  rate_windows: { scope: string; window_start: Time; count: number }

  queues: {
    id: string
    project_id: string
    name: string
    display_name: string
    description: string | null
    create_time: Time
    update_time: Time
  }
  /** Jobs of queues and of inference endpoints: one of `queue_id` and `endpoint` is set. */
  jobs: {
    id: string
    organization_id: string
    queue_id: string | null
    endpoint: string | null
    /** JSON, like `metadata` and `output`; as text it keeps the order of members and every digit. */
    input: string
    metadata: string | null
    webhook: string | null
    status: 'pending' | 'running' | 'succeeded' | 'cancelled' | 'failed'
    /** Hand-outs so far. */
    attempts: Generated<number>
    output: string | null
    /** `{action, time}[]`, oldest first. */
    events: Json<readonly { readonly action: string; readonly time: string }[]>
    create_time: Time
    update_time: Time
    /** Set with a final status: from then on it is kept for a while. */
    finish_time: Time | null
  }
  /** Calls that are still to be made; the row goes with the last attempt. */
  webhook_messages: {
    id: string
    organization_id: string
    url: string
    body: string
    attempts: Generated<number>
    next_attempt: Time
    create_time: Time
  }

  container_groups: {
    id: string
    project_id: string
    organization_id: string
    name: string
    /** The group as its owner wrote it, with defaults: all of the wire but what is state. */
    definition: Json<Record<string, unknown>>
    queue_id: string | null
    dns: string | null
    version: Generated<number>
    status: 'pending' | 'running' | 'stopped' | 'succeeded' | 'failed' | 'deploying'
    description: Generated<string>
    pending_change: Generated<boolean>
    /** While its image is fetched and looked at. */
    preparing: Generated<boolean>
    /** Whether it starts when its first image is there. */
    start_when_prepared: Generated<boolean>
    /** Instances that ended by themselves for good since the last start, and the last exit code of them that was not 0. */
    ended: Generated<number>
    ended_code: number | null
    /** Digest and bytes of the image, where it was fetched. */
    image_hash: string | null
    image_size: number | null
    create_time: Time
    update_time: Time
    start_time: Time
    finish_time: Time
    /** Deleted ones stay until their instances are gone. */
    deleted: Generated<boolean>
  }
  instances: {
    id: string
    group_id: string
    machine_id: string
    state: 'allocating' | 'downloading' | 'creating' | 'running' | 'stopping'
    version: number
    started: Generated<boolean>
    ready: Generated<boolean>
    /** Whether its folder is emptied before it starts. */
    fresh: Generated<boolean>
    deletion_cost: Generated<number>
    /** Where its application is reached on this machine by the worker of its queue. */
    port: number | null
    create_time: Time
    update_time: Time
  }
  /** Nodes that an organization's instances stay away from for a while. */
  node_exclusions: { organization_id: string; machine_id: string; until: Time; reason: string }

  files: {
    organization_id: string
    path: string
    mime_type: string
    size: number
    etag: string
    /** Where its bytes lie; a new one with every upload. */
    blob: string
    uploaded: Time
  }
  /** Of signed URLs; `digest` is the token's. */
  file_tokens: { digest: string; organization_id: string; path: string; expires: Time }
  uploads: { id: string; organization_id: string; path: string; create_time: Time }
  upload_parts: { upload_id: string; part_number: number; etag: string; size: number; blob: string }

  signing_keys: { kid: string; private_jwk: Json<Record<string, unknown>>; create_time: Time }
  log_entries: {
    id: Generated<number>
    organization_id: string
    time: Time
    receive_time: Time
    severity: string
    resource_type: string
    labels: Json<Record<string, string>>
    text_log: string | null
    json_log: Json<Record<string, unknown>> | null
    /** Of an event: what its group asked of its nodes then. */
    resources: Json<EventResources> | null
  }
}
