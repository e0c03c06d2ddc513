/** The sections of the page. */
export const tags = {
  prompts: 'Prompts',
  jobs: 'Jobs',
  models: 'Models',
  speech: 'Speech',
  server: 'Server',
  comfy: 'ComfyUI',
} as const

/** What stands above each of them, in the order of the page. */
export const tagList = [
  { name: tags.prompts, description: 'Run workflows.' },
  { name: tags.jobs, description: 'What became of prompts. Records are kept for `JOB_RETENTION_S` after the end.' },
  { name: tags.models, description: 'Model files of this server.' },
  { name: tags.speech, description: 'Write down what is said.' },
  { name: tags.server, description: 'How the server is.' },
  {
    name: tags.comfy,
    description:
      'ComfyUI’s own routes, for its clients. Each exists below `/api` too, where `/api/prompt` and `/api/models` are ' +
      'ComfyUI’s as well. Events come over the WebSocket `/ws?clientId=`.',
  },
]
