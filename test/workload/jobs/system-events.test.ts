import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WorkloadError } from '../../../src/workload/base/errors.ts'
import { instanceFacts } from '../../../src/workload/base/instance-facts.ts'
import type { SystemEvent } from '../../../src/workload/delivery/event-lines.ts'
import { createSystemEvents } from '../../../src/workload/jobs/system-events.ts'
import { launchEngines, type StartedEngines } from '../../support/engine.ts'
import { emptyFolder } from '../../support/folder.ts'
import { killing, node, picture, saving, slow } from '../../support/prompts.ts'
import { watchedJob, watchedRun } from '../../support/watched-run.ts'

let engines: StartedEngines
beforeAll(async () => {
  engines = await launchEngines()
})
afterAll(() => engines.close())

/** What an operator would be told; everything, so without a receiver that may be slow. */
function recorded() {
  const told: SystemEvent[] = []
  const events = createSystemEvents({ tell: (event) => void told.push(event) }, () => 123)
  const of = (name: string) =>
    told
      .filter(({ event }) => event === `comfy.${name}`)
      .map(({ data }) => data as { readonly type: string; readonly data: Readonly<Record<string, unknown>> })
  return { ...events, told, of }
}

describe('the events of a prompt', () => {
  it('have the shapes of ComfyUI, in their order', async () => {
    const { watcher, told, of } = recorded()
    const prompt = saving(slow(5, 60))
    await watchedRun(engines, watcher, prompt)
    expect(told.map(({ event }) => event).filter((event) => !event.startsWith('comfy.progress'))).toEqual([
      'comfy.status',
      'comfy.status',
      'comfy.execution_start',
      'comfy.execution_cached',
      'comfy.executing',
      'comfy.executing',
      'comfy.executed',
      'comfy.execution_success',
      'comfy.executing',
      'comfy.status',
    ])
    for (const { event, data } of told) expect(`comfy.${(data as { type: string }).type}`).toBe(event)
    const prompt_id = 'job'
    expect(of('status').map(({ data }) => data.status)).toEqual(
      [1, 1, 0].map((queue_remaining) => ({ exec_info: { queue_remaining } })),
    )
    expect(of('execution_start')[0]!.data).toEqual({ prompt_id, timestamp: 123 })
    expect(of('execution_cached')[0]!.data).toEqual({ nodes: [], prompt_id, timestamp: 123 })
    expect(of('executing').map(({ data }) => data)).toEqual(
      ['image', 'out', null].map((id) => ({ node: id, display_node: id, prompt_id })),
    )
    expect(of('executed').map(({ data }) => data)).toEqual([
      {
        node: 'out',
        display_node: 'out',
        output: { images: [{ filename: 'job_test_00001_.png', subfolder: '', type: 'output' }] },
        prompt_id,
      },
    ])
    expect(of('execution_success').map(({ data }) => data)).toEqual([{ prompt_id, timestamp: 123 }])
    expect(of('progress').at(-1)!.data).toEqual({ value: 5, max: 5, prompt_id, node: 'image' })
    expect(of('progress_state').at(-1)!.data).toMatchObject({
      prompt_id,
      nodes: { image: { value: 1, max: 1, state: 'finished', node_id: 'image', display_node_id: 'image', prompt_id } },
    })
  })

  it('tell each sampler its own progress, so that none is left out for another', async () => {
    const { watcher, told } = recorded()
    await watchedRun(engines, watcher, saving(slow(3, 1)))
    const kinds = told.filter(({ replaces }) => replaces !== undefined).map(({ replaces }) => replaces)
    expect(new Set(kinds)).toEqual(new Set(['progress image', 'progress_state']))
    expect(new Set(told.map(({ line }) => line))).toEqual(new Set(['', 'job']))
  })

  it('tell who failed and why, and nothing of our files', async () => {
    const { watcher, of } = recorded()
    const failing = node('TestFails', { image: ['source', 0], message: 'no luck' })
    await watchedRun(engines, watcher, saving(failing, { source: picture() }))
    expect(of('execution_error').map(({ data }) => data)).toMatchObject([
      {
        prompt_id: 'job',
        node_id: 'image',
        node_type: 'TestFails',
        executed: ['source'],
        exception_message: 'no luck',
        exception_type: 'RuntimeError',
        traceback: ['Node image (TestFails): no luck'],
        current_inputs: { message: ['no luck'] },
        current_outputs: ['source'],
      },
    ])
    expect(of('execution_success')).toEqual([])
  })

  it('tell where a prompt was stopped', async () => {
    const { watcher, of } = recorded()
    const stop = new AbortController()
    const noted: typeof watcher = {
      ...watcher,
      event(job, event) {
        watcher.event(job, event)
        if (event.kind === 'progress') stop.abort(new WorkloadError('cancelled', 'stopped'))
      },
    }
    await watchedRun(engines, noted, saving(slow(1000, 5)), { signal: stop.signal })
    expect(of('execution_interrupted').map(({ data }) => data)).toEqual([
      { prompt_id: 'job', node_id: 'image', node_type: 'TestSlow', executed: [], timestamp: 123 },
    ])
  })

  it('show an output once, also when an engine dies and the prompt is run again', async () => {
    const { watcher, of } = recorded()
    const early = { shown: node('TestSave', { images: ['source', 0], filename_prefix: 'early' }) }
    const marker = join(await emptyFolder(), 'marker')
    await watchedRun(engines, watcher, { ...early, ...killing(marker, 1) })
    expect(of('execution_start')).toHaveLength(2)
    expect(of('executing').filter(({ data }) => data.node === 'shown')).toHaveLength(2)
    expect(of('executed').map(({ data }) => data.node)).toEqual(['shown', 'out'])
    expect(of('execution_success')).toHaveLength(1)
  })

  it('leave the end to others when a prompt goes on elsewhere', () => {
    const { watcher, told, of } = recorded()
    const job = watchedJob({})
    watcher.queued(job, { prompt: {}, outputs: [], nodeErrors: {} })
    watcher.started(job)
    watcher.forgotten(job)
    expect(told.map(({ event }) => event)).not.toContain('comfy.execution_error')
    expect(of('status').at(-1)!.data).toEqual({ status: { exec_info: { queue_remaining: 0 } } })
  })

  it('are none for a prompt that was never queued', () => {
    const { watcher, told } = recorded()
    watcher.ended(watchedJob({}), new WorkloadError('media-unavailable', 'gone'))
    expect(told).toEqual([])
  })
})

it('files are told by name and size, without the secrets in their URLs', () => {
  const { downloaded, uploaded, deleted, told } = recorded()
  const url = 'https://me:pass@store.example/a.safetensors?signature=planted'
  downloaded({ url, name: 'a.safetensors', bytes: 7, seconds: 1.5 })
  uploaded({ url, name: 'a.png', bytes: 8, seconds: 2 })
  deleted({ url: undefined, name: 'a.safetensors', bytes: 7 })
  expect(told.map(({ event, data }) => [event, data])).toEqual([
    [
      'storage.file_downloaded',
      {
        url: 'https://store.example/a.safetensors?signature=***',
        local_path: 'a.safetensors',
        size: 7,
        duration: 1.5,
      },
    ],
    [
      'storage.file_uploaded',
      { url: 'https://store.example/a.safetensors?signature=***', local_path: 'a.png', size: 8, duration: 2 },
    ],
    ['storage.file_deleted', { url: 'unknown', local_path: 'a.safetensors', size: 7 }],
  ])
})

describe('what a server knows of itself', () => {
  it('is what the platform says, by names in lower case', () => {
    expect(
      instanceFacts({ HOSTNAME: 'h', WORKLOAD_ORGANIZATION_NAME: 'acme', INSTANCE_MACHINE_ID: 'm', PATH: '/' }),
    ).toEqual({ hostname: 'h', workload_organization_name: 'acme', instance_machine_id: 'm' })
  })

  it('may stand behind a prefix, where nothing is said without one', () => {
    const environment = {
      PLATFORM_ENV_PREFIX: 'X',
      X_CONTAINER_GROUP_NAME: 'g',
      X_MACHINE_ID: 'm',
      INSTANCE_MACHINE_ID: 'n',
    }
    expect(instanceFacts(environment)).toEqual({ workload_name: 'g', instance_machine_id: 'n' })
  })

  it('is nothing outside of a platform', () => {
    expect(instanceFacts({ HOSTNAME: 'laptop', PLATFORM_ENV_PREFIX: 'X' })).toEqual({})
  })
})
