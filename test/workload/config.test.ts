import { resolve } from 'node:path'
import { expect, it } from 'vitest'
import { readConfig } from '../../src/workload/config.ts'

it('has a default for everything, and finds the models wherever it is started', () => {
  const config = readConfig({})
  expect(config).toMatchObject({ host: '::', port: 3000, maxQueueDepth: 0, stallMs: 120_000, prependFilenames: true })
  expect(config.engines).toMatchObject([{ device: 0, provider: 'auto', modelDir: resolve('models') }])
  expect(config.warmUp).toEqual({ file: resolve('models/warmup.json'), required: false })
  expect(readConfig({ WARMUP_PROMPT_FILE: 'none' }).warmUp).toBeUndefined()
})

it('takes an empty variable for one that is not set', () => {
  expect(readConfig({ API_KEY: '', PORT: '', MODEL_DIR: '' })).toMatchObject({ apiKey: undefined, port: 3000 })
})

it('has an engine a device, and folders below COMFY_HOME unless they are named', () => {
  const { engines, spool } = readConfig({ DEVICES: '0,2', COMFY_HOME: '/srv', INPUT_DIR: '/in', MODEL_CACHE_GB: '1.5' })
  expect(engines).toMatchObject([
    { device: 0, modelDir: '/srv/models', inputDir: '/in', modelCacheBytes: 1.5 * 2 ** 30 },
    { device: 2, modelDir: '/srv/models', inputDir: '/in' },
  ])
  expect(spool).toBe('/srv/output/spool')
})

it('names every bad variable in one error', () => {
  const bad = { PORT: '70000', MAX_BATCH: '0', PREPEND_FILENAMES: 'maybe', DEVICES: '0;1', EXECUTION_PROVIDER: 'tpu' }
  for (const name of Object.keys(bad)) expect(() => readConfig(bad)).toThrow(name)
})
