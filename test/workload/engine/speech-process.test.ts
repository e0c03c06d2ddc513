import { pathToFileURL } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { silentLog } from '../../../src/common/log.ts'
import { createSpeechProcess, type SpeechProcessOptions } from '../../../src/workload/engine/speech-process.ts'

function start(options: Partial<SpeechProcessOptions> = {}) {
  const entry = pathToFileURL('test/fixtures/speech-process.mjs')
  const speech = createSpeechProcess({ entry, config: {}, stallMs: 60_000, idleMs: 60_000, log: silentLog, ...options })
  onTestFinished(() => speech.close())
  const { signal } = new AbortController()
  const say = (path: string, until = signal) => speech.transcribe({ path, request: {} }, until)
  return { speech, say }
}

it('starts a process for the first file and keeps it for the next', async () => {
  const { speech, say } = start()
  expect(speech.processId).toBeUndefined()
  const [one, two] = await Promise.all([say('one'), say('two')])
  expect([one.text, two.text]).toEqual([`one of ${speech.processId}`, `two of ${speech.processId}`])
})

it('fails the file that a process dies of, and does the next with another', async () => {
  const { say } = start()
  const [crash, next] = await Promise.allSettled([say('crash'), say('next')])
  expect(crash).toMatchObject({ reason: { code: 'execution-failed', message: expect.stringContaining('SIGSEGV') } })
  expect(next).toMatchObject({ status: 'fulfilled' })
})

it('kills a process that gives no sign of life', async () => {
  const { say } = start({ stallMs: 200 })
  await expect(say('block')).rejects.toThrow(/no sign of life for 0.2 s/)
})

it('hands on what the process says of a request, and hides what nobody foresaw', async () => {
  const { say } = start()
  await expect(say('fault')).rejects.toMatchObject({ code: 'invalid-request', message: 'no such language' })
  const bug = await say('bug').catch((error: Error) => error)
  expect(bug).toMatchObject({ name: 'Error', message: 'oops' })
})

it('stops what nobody waits for any more, and does not begin what nobody waited for', async () => {
  const { speech, say } = start()
  await say('first')
  const gone = new AbortController()
  const both = Promise.allSettled([say('wait', gone.signal), say('crash', gone.signal)])
  const reason = new Error('gone')
  gone.abort(reason)
  expect(await both).toEqual([1, 2].map(() => ({ status: 'rejected', reason })))
  const { processId } = speech
  expect((await say('next')).text).toBe(`next of ${processId}`)
})

it('ends a process that has had nothing to do for a while', async () => {
  const { speech, say } = start({ idleMs: 20 })
  await say('one')
  await expect.poll(() => speech.processId).toBeUndefined()
  expect((await say('two')).text).toContain('two')
})

it('gives up what is under way when it is closed', async () => {
  const { speech, say } = start()
  const all = Promise.allSettled([say('wait'), say('next')])
  await expect.poll(() => speech.processId).toBeDefined()
  await speech.close()
  for (const each of await all) expect(each).toMatchObject({ reason: { code: 'shutting-down' } })
})
