import type { EndpointDefinition } from '../../contracts/platform/inference-endpoint.ts'

/** Who does the work of an endpoint: receives the input of a job as the application of a queue does (section 14.6). */
export interface EndpointProcessor {
  /** An address; or a path, which is one of the reference workload that the platform itself runs. */
  readonly url: string
  /** The most jobs at a time, of all organizations together. */
  readonly concurrency: number
}

/** An endpoint as an operator configures it. */
export interface EndpointSetting extends EndpointDefinition {
  /** Without one its jobs stay pending. */
  readonly processor?: EndpointProcessor | undefined
  /** Names of the organizations it is offered to; all if not given. */
  readonly organizations?: readonly string[] | undefined
}

/** Jobs at a time where nobody says how many (platform reference, section 27). */
export const DEFAULT_CONCURRENCY = 4

/** The two endpoints that turn speech into text. */
export const isTranscription = (name: string): boolean => name === 'transcribe' || name === 'transcription-lite'

/** Where a reference workload does the jobs of an endpoint. */
export const workloadPathOf = (name: string): string => (isTranscription(name) ? '/transcribe' : '/prompt')
