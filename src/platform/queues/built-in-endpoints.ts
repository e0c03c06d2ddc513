import { z } from 'zod'
import { transcribeBodySchema } from '../../contracts/platform/transcription.ts'
import { DEFAULT_CONCURRENCY, type EndpointSetting, workloadPathOf } from './endpoint-setting.ts'

/** A microphone, in black. */
const ICON =
  'data:image/svg+xml,%3Csvg%20xmlns=%22http://www.w3.org/2000/svg%22%20viewBox=%220%200%2016%2016%22%3E%3Crect%20x=%226%22%20width=%224%22%20height=%2210%22%20rx=%222%22/%3E%3Cpath%20d=%22M3%207v1a5%205%200%200%200%204%204.9V16h2v-3.1A5%205%200%200%200%2013%208V7h-2v1a3%203%200%200%201-6%200V7z%22/%3E%3C/svg%3E'

const outputSchema = {
  type: 'object',
  properties: {
    text: { type: 'string' },
    duration: { type: 'number', description: 'hours' },
    duration_in_seconds: { type: 'number' },
    processing_time: { type: 'number', description: 'seconds' },
    url: { type: 'string', description: 'where the output is, when it was asked for as a file or is large' },
    error: { type: 'string', description: 'why the media could not be used' },
  },
}

const processor = { url: workloadPathOf('transcribe'), concurrency: DEFAULT_CONCURRENCY }

/** The endpoints that every platform has (platform reference, section 8.4). Their ids are fixed: they are named by them. */
export const builtInEndpoints = (): readonly EndpointSetting[] => [
  {
    processor,
    icon_url: ICON,
    output_schema: JSON.stringify(outputSchema),
    price_description: 'Set by the operator',
    id: '0d6cf1a0-5d0c-4b4e-9b5e-6f1f8a1d2c01',
    name: 'transcribe',
    display_name: 'Transcribe',
    description: 'Turns speech into text, with speakers, captions, summaries and translations.',
    input_schema: JSON.stringify(z.toJSONSchema(transcribeBodySchema.shape.input, { unrepresentable: 'any' })),
    readme: 'Give the URL of an audio or video file as input.url; what else is asked for adds members to the output.',
  },
  {
    processor,
    icon_url: ICON,
    output_schema: JSON.stringify(outputSchema),
    price_description: 'Set by the operator',
    id: '0d6cf1a0-5d0c-4b4e-9b5e-6f1f8a1d2c02',
    name: 'transcription-lite',
    display_name: 'Transcription Lite',
    description: 'Turns speech into text at a lower price.',
    input_schema: JSON.stringify({ type: 'object' }),
    readme: 'Give the URL of an audio or video file as input.url.',
  },
]
