import { mkdir } from 'node:fs/promises'
import { hostname } from 'node:os'
import { extname } from 'node:path'
import { silentLog } from '../common/log.ts'
import { openDatabase } from './base/database.ts'
import { messageOf } from './base/errors.ts'
import { readConfig } from './config.ts'
import { createAdmin } from './management/admin.ts'
import { type AdminAnswer, readAdminCommand } from './management/admin-command.ts'
import { adminSocketIn, askAdminSocket } from './management/admin-socket.ts'

/** Gives a command line to the platform that runs on these records, or follows it alone where none does. */
async function answer(args: readonly string[]): Promise<AdminAnswer> {
  const command = readAdminCommand(args)
  if ('code' in command) return command
  const { dataDir, databaseUrl, seedFile } = readConfig()
  const answered = await askAdminSocket(adminSocketIn(dataDir), args)
  if (answered) return answered
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const { db, close } = await openDatabase({
    ...{ folder: dataDir, holder: thisProcess, now: Date.now },
    ...(databaseUrl === undefined ? { entry: databaseEntry } : { url: databaseUrl, log: silentLog }),
  })
  try {
    return await createAdmin({ db, now: Date.now, seedFile })(args)
  } finally {
    await close()
  }
}

const thisProcess = { pid: process.pid, host: hostname(), started: performance.timeOrigin }

// As .ts from source and as .js from dist.
const databaseEntry = new URL(`../common/postgres/database-thread${extname(import.meta.filename)}`, import.meta.url)

try {
  const { code, output, error } = await answer(process.argv.slice(2))
  process.stdout.write(output)
  process.stderr.write(error)
  process.exitCode = code
} catch (error) {
  process.stderr.write(`the command could not be followed: ${messageOf(error)}\n`)
  process.exitCode = 1
}
