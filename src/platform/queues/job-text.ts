import type { JobRow } from './job-place.ts'

/**
 * Jobs as JSON text. What the user gave is set in as it is stored, so that nothing inside is touched: neither the order
 * of members nor the last digits of a long integer.
 */
const textOf = (members: Readonly<Record<string, string | undefined>>): string =>
  `{${Object.entries(members)
    .flatMap(([name, text]) => (text === undefined ? [] : `${JSON.stringify(name)}:${text}`))
    .join(',')}}`

const optional = (value: string | null): string | undefined => (value === null ? undefined : JSON.stringify(value))

/** A queue job as all its operations answer it (platform reference, section 8.13). */
export const queueJobText = (row: JobRow): string =>
  textOf({
    id: JSON.stringify(row.id),
    input: row.input,
    metadata: row.metadata ?? undefined,
    output: row.output ?? undefined,
    status: JSON.stringify(row.status),
    events: JSON.stringify(row.events),
    create_time: JSON.stringify(row.create_time),
    update_time: JSON.stringify(row.update_time),
    webhook: optional(row.webhook),
  })

/** An inference job in the form of its get operation (platform reference, section 8.1). */
export const inferenceJobText = (row: JobRow, organizationName: string): string =>
  textOf({
    ...inferenceHead(row, organizationName),
    input: row.input,
    output: row.output ?? undefined,
    events: JSON.stringify(row.events),
    webhook: optional(row.webhook),
    webhook_url: optional(row.webhook),
  })

/** An inference job as its create operation answers: without events yet, and with the `input` that it echoes, as JSON. */
export const createdInferenceJobText = (row: JobRow, organizationName: string, input: string): string =>
  textOf({ ...inferenceHead(row, organizationName), input, events: '[]' })

const inferenceHead = (row: JobRow, organizationName: string) => ({
  id: JSON.stringify(row.id),
  inference_endpoint_name: JSON.stringify(row.endpoint),
  organization_name: JSON.stringify(organizationName),
  metadata: row.metadata ?? 'null',
  status: JSON.stringify(row.status),
  create_time: JSON.stringify(row.create_time),
  update_time: JSON.stringify(row.update_time),
})

/** A page of jobs, with the members that follow its items. */
export const pageText = (items: readonly string[], more: Readonly<Record<string, number>> = {}): string =>
  textOf({
    items: `[${items.join(',')}]`,
    ...Object.fromEntries(Object.entries(more).map(([name, number]) => [name, String(number)])),
  })
