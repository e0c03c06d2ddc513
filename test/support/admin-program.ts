import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'

/** Runs the built program of `npm run admin` to its end. */
export async function runAdmin(environment: Readonly<Record<string, string>>, args: readonly string[]) {
  const child = spawn(process.execPath, [`${process.env.EASEL_DIST ?? 'dist'}/platform/admin-main.js`, ...args], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [output, error, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { output, error, code: code as number }
}
