import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'

/** A Redis that can be started. */
export interface RedisProgram {
  readonly path: string
  readonly env: NodeJS.ProcessEnv
}

/** The server and what it needs beyond a small Debian. */
const packages = ['redis-server', 'redis-tools', 'libjemalloc2', 'liblzf1', 'libatomic1']

/** An installed Redis or Valkey, else Debian's, unpacked without being installed; or why there is none. */
export function findRedis(): RedisProgram | string {
  const installed = onPath('redis-server') ?? onPath('valkey-server')
  if (installed) return { path: installed, env: process.env }
  const folder = resolve('node_modules/.cache/redis')
  const unpacked = `${folder}/usr/bin/redis-server`
  if (!existsSync(unpacked)) {
    if (!onPath('apt-get') || !onPath('dpkg')) return 'there is no redis-server, and no Debian to fetch one from'
    try {
      unpack(folder)
    } catch (error) {
      return `there is no redis-server, and fetching one failed (${(error as Error).message.split('\n')[0]})`
    }
  }
  const libraries = `${folder}/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`
  const paths = [libraries, process.env.LD_LIBRARY_PATH].filter(Boolean).join(':')
  return { path: unpacked, env: { ...process.env, LD_LIBRARY_PATH: paths } }
}

function onPath(name: string): string | undefined {
  try {
    return execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim()
  } catch {
    return undefined
  }
}

/** Under another name first, so that what is there is whole. */
function unpack(folder: string): void {
  const unfinished = `${folder}.${process.pid}`
  mkdirSync(unfinished, { recursive: true })
  try {
    execFileSync('apt-get', ['download', ...packages], { cwd: unfinished, stdio: 'pipe' })
    for (const file of readdirSync(unfinished).filter((name) => name.endsWith('.deb')))
      execFileSync('dpkg', ['-x', file, '.'], { cwd: unfinished, stdio: 'pipe' })
    rmSync(folder, { recursive: true, force: true })
    renameSync(unfinished, folder)
  } finally {
    rmSync(unfinished, { recursive: true, force: true })
  }
}
