import type { ZodOpenApiPathsObject } from 'zod-openapi'
import {
  transcriptionRequestSchema,
  transcriptionSchema,
  unusableMediaSchema,
} from '../../../contracts/transcription.ts'
import { json, problems } from './answers.ts'
import { tags } from './tags.ts'

const example = { url: 'https://files.example/meeting.mp3', sentence_level_timestamps: true, srt: true }

/** Speech to text. */
export const speechPaths: ZodOpenApiPathsObject = {
  '/transcribe': {
    post: {
      operationId: 'transcribe',
      summary: 'Write down what is said in a file',
      tags: [tags.speech],
      requestBody: { required: true, content: { 'application/json': { schema: transcriptionRequestSchema, example } } },
      responses: {
        200: json('What is said, or why the media cannot be used.', transcriptionSchema.or(unusableMediaSchema)),
        ...problems(
          ...(['invalid-json', 'invalid-request', 'cancelled', 'body-too-large', 'unsupported-media-type'] as const),
          ...(['queue-full', 'execution-failed', 'no-speech-model', 'draining', 'shutting-down'] as const),
        ),
      },
    },
  },
}
