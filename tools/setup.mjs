// Brings a clone to where it can run: `npm start` and `npm test` call it first. Plain Node, for nothing is installed yet.
// Says one line for each thing it does, and nothing when there is nothing to do.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const at = (...path) => join(root, ...path)
const say = (line) => process.stdout.write(`${line}\n`)
/** Written when a build has succeeded, because a build that failed leaves files too. */
const stamp = at('dist', '.built')

function fail(message, output = '') {
  process.stderr.write(`${output}${message}\n`)
  process.exit(1)
}

function requireNode(major, minor) {
  const [ourMajor, ourMinor] = process.versions.node.split('.').map(Number)
  if (ourMajor > major || (ourMajor === major && ourMinor >= minor)) return
  fail(`Easel needs Node ${major}.${minor} or newer; this is ${process.version}. See https://nodejs.org/`)
}

const modified = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs

/** Whether node_modules holds what the lock file asks for. A lock file that is only younger may still ask the same. */
function isInstalled() {
  const lock = at('package-lock.json')
  const installed = at('node_modules', '.package-lock.json')
  if (!existsSync(installed)) return false
  if (modified(installed) >= modified(lock)) return true
  const packages = (file) => JSON.parse(readFileSync(file, 'utf8')).packages
  const there = packages(installed)
  return Object.entries(packages(lock)).every(
    ([path, wanted]) => path === '' || there[path]?.version === wanted.version || (!there[path] && wanted.optional),
  )
}

/** The time of the newest file or folder; a folder changes when a file in it goes. */
function newest(path) {
  let time = modified(path) ?? 0
  if (!statSync(path).isDirectory()) return time
  for (const entry of readdirSync(path)) time = Math.max(time, newest(join(path, entry)))
  return time
}

function isBuilt() {
  const sources = ['src', 'package.json', 'tsconfig.json', 'tsconfig.build.json'].map((name) => newest(at(name)))
  return (modified(stamp) ?? 0) > Math.max(...sources)
}

/** Runs a command quietly; what it printed is shown only when it fails. */
function run(what, command, ...args) {
  say(`${what} …`)
  const { status, error, stdout, stderr } = spawnSync(command, args, { cwd: root, encoding: 'utf8' })
  if (error) fail(`${what} failed: ${error.message}`)
  if (status !== 0) fail(`${what} failed (${[command, ...args].join(' ')})`, `${stdout}${stderr}`)
}

requireNode(20, 19)
if (!isInstalled()) run('installing packages', 'npm', 'ci', '--no-audit', '--no-fund', '--loglevel=error')
if (!isBuilt()) {
  rmSync(at('dist'), { recursive: true, force: true }) // or units whose files were deleted would still be discovered
  run('building', process.execPath, at('node_modules', 'typescript', 'bin', 'tsc'), '-p', 'tsconfig.build.json')
  writeFileSync(stamp, '')
}
