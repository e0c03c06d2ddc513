import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { join, relative } from 'node:path'
import { z } from 'zod'
import type { Log } from '../../common/log.ts'
import type { Admin } from './admin.ts'
import type { AdminAnswer } from './admin-command.ts'

const MAX_BYTES = 65_536
/** Longer names of sockets are cut off by some systems. */
const MAX_NAME_BYTES = 103
/** A caller that says nothing for so long is let go. */
const SILENT_MS = 10_000

const questionSchema = z.array(z.string())
const answerSchema = z.object({
  code: z.union([z.literal(0), z.literal(1), z.literal(2)]),
  output: z.string(),
  error: z.string(),
})

/** Where the platform that has a data folder listens. */
export const adminSocketIn = (dataDir: string): string => join(dataDir, 'admin.sock')

export interface AdminSocket {
  close(): Promise<void>
}

export interface AdminSocketOptions {
  /** Only who may open it, who is this process's user, may give commands. What an earlier process left there is replaced. */
  readonly file: string
  readonly admin: Admin
  readonly log: Log
}

/**
 * Takes commands from other processes of this machine, for an embedded database can be opened by one process only. Where that
 * is not possible the platform runs without it.
 */
export async function openAdminSocket(options: AdminSocketOptions): Promise<AdminSocket> {
  try {
    return await listening(options)
  } catch (err) {
    options.log.warn({ err }, 'commands of administrators are not taken while the platform runs')
    return { close: async () => undefined }
  }
}

async function listening({ file, admin, log }: AdminSocketOptions): Promise<AdminSocket> {
  const sockets = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => socket.destroy()) // whoever asked is gone
    socket.setTimeout(SILENT_MS, () => socket.destroy())
    void answer(socket, admin, log)
  })
  await rm(file, { force: true })
  const name = nameOf(file)
  if (name === undefined) throw new Error(`the name of the socket ${file} is too long`)
  const before = process.umask(0o177) // there is no moment in which others could open it
  server.listen(name)
  process.umask(before)
  await once(server, 'listening')
  return {
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

/** Gives a command to the process that listens; undefined when there is none. */
export async function askAdminSocket(file: string, args: readonly string[]): Promise<AdminAnswer | undefined> {
  const name = nameOf(file)
  if (name === undefined) return undefined
  const socket = connect(name)
  try {
    await once(socket, 'connect')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ECONNREFUSED') return undefined
    throw error
  }
  socket.end(JSON.stringify(args))
  const text = await textOf(socket, Number.POSITIVE_INFINITY)
  if (text === '') throw new Error('the platform has ended without an answer')
  return answerSchema.parse(JSON.parse(text))
}

async function answer(socket: Socket, admin: Admin, log: Log): Promise<void> {
  try {
    const reply = await admin(questionSchema.parse(JSON.parse(await textOf(socket, MAX_BYTES))))
    socket.end(JSON.stringify(reply))
  } catch (err) {
    log.error({ err }, 'a command of an administrator failed')
    const failed: AdminAnswer = { code: 1, output: '', error: 'something unexpected happened; see the log\n' }
    socket.end(JSON.stringify(failed))
  }
}

/** Everything that the other side says until it ends. */
async function textOf(socket: Socket, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxBytes) throw new Error(`a command is longer than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

/** The shorter name of a file, relative to where this process stands or absolute; undefined when both are too long. */
const nameOf = (file: string): string | undefined =>
  [relative('', file), file]
    .sort((one, other) => one.length - other.length)
    .find((name) => Buffer.byteLength(name) <= MAX_NAME_BYTES)
