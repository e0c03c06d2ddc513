import { createLog } from '../common/log.ts'
import { joinDatabase } from './base/database.ts'
import { messageOf } from './base/errors.ts'
import { readWorkerConfig } from './config.ts'
import { imdsStatus } from './queues/imds-status.ts'
import { createStandAloneWorker } from './queues/stand-alone-worker.ts'

/** Between two looks for jobs while there are none: nobody tells this process of new ones. */
const LOOK_MS = 500
/** What a program answers that was started wrongly (platform reference, section 15.1). */
const BAD_CONFIGURATION = 2

/** Does the jobs of a queue until its instance is gone, or it is asked to end, or who started it is no more. */
async function main(config: ReturnType<typeof readWorkerConfig>): Promise<void> {
  const { queue, port, path, redisUrl, databaseUrl, graceMs, settings } = config
  const log = createLog(config.logLevel, { worker: queue, port })
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'unhandled rejection'))
  const { db, pool, close } = await joinDatabase({ url: databaseUrl, log })

  let ending = false
  const end = async (reason: string): Promise<void> => {
    if (ending) return
    ending = true
    log.info({ reason }, 'the worker ends')
    await worker.stop(graceMs)
    await close()
    process.exit(0)
  }
  const worker = createStandAloneWorker({
    ...{ db, pool, redisUrl, now: Date.now, log, queue, port, path },
    status: imdsStatus(config.imds),
    onGone: () => void end('its instance is gone'),
    settings: { ...settings, lookMs: LOOK_MS },
  })
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void end(signal))
  void orphaned().then(() => end('the platform is gone'))
  log.info({}, 'the worker has begun')
}

/** Resolves when the platform that started this process is no more, also where it died before anybody listened. */
function orphaned(): Promise<void> {
  return new Promise((resolve) => {
    process.once('disconnect', resolve)
    if (process.send && !process.connected) resolve()
  })
}

try {
  await main(readWorkerConfig())
} catch (error) {
  process.stderr.write(`the worker cannot start: ${messageOf(error)}\n`)
  process.exit(BAD_CONFIGURATION)
}
