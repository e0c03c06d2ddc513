import { expect, it, onTestFinished, vi } from 'vitest'
import { createPlatformProcess, killed } from '../../../tools/chaos/platform-process.ts'
import { emptyFolder } from '../../support/folder.ts'
import { platformFolderIn } from '../../support/platform-database.ts'
import { receiver } from '../../support/receiver.ts'
import { createLedger } from './ledger.ts'

it('does every job of a queue once, tells of each, and leaves nothing, though an instance and itself are killed', async () => {
  const folder = await emptyFolder()
  await platformFolderIn(folder) // making the records takes seconds
  const platform = createPlatformProcess(folder, { LOG_LEVEL: 'warn', WORKER_POLL_S: '0.2', STOP_GRACE_S: '2' })
  onTestFinished(() => platform.sweep())
  const { url, calls } = await receiver()
  await platform.start()
  const ledger = createLedger(platform)
  await ledger.queue()
  await ledger.group('first', 2)
  for (let i = 0; i < 6; i++) await ledger.job(150, url)
  const containers = () => platform.descendants()
  await expect.poll(async () => (await containers()).length, { timeout: 20_000 }).toBe(2)
  await expect.poll(() => calls.length, { timeout: 20_000 }).toBeGreaterThan(0)
  killed((await containers())[0]!.pid)
  await platform.kill()
  await platform.start()
  const whole = async () => expect(await ledger.faults()).toEqual([])
  await vi.waitFor(whole, { timeout: 25_000, interval: 100 })
  await expect.poll(() => new Set(calls.map(({ webhookId }) => webhookId)).size).toBe(6)
  expect(await platform.stop()).toBe(0)
  expect(await containers()).toEqual([])
}, 120_000)
