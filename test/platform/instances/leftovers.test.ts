import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { containerInputSchema } from '../../../src/contracts/platform/container.ts'
import { containerOf, launcherIn, soon } from '../../support/container-groups.ts'
import { emptyFolder } from '../../support/folder.ts'

/** A container whose command is a shell's; the lines it prints come with it. */
async function start(folder: string, line: string) {
  const lines: string[] = []
  const running = await launcherIn(folder).start({
    machineId: 'a-node',
    fresh: true,
    container: containerInputSchema.parse(containerOf(['sh', '-c', line])),
    ports: [],
    environment: { INSTANCE_ID: 'an-instance' },
    onLine: (text) => lines.push(text),
  })
  onTestFinished(() => running.stop(0))
  return { running, lines }
}

/** Whether there is a process of that number that has not ended. */
const lives = async (pid: number): Promise<boolean> => {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return stat !== '' && !stat.includes(') Z ')
}

it('a program that is not there has ended with 127, and says so', async () => {
  const { running } = await start(await emptyFolder(), 'exec /nowhere/program')
  expect(await running.ended).toBe(127)
})

it.runIf(process.platform === 'linux')(
  'what an application has started and let go is ended by the next platform, somebody who looks around is not',
  async () => {
    const folder = await emptyFolder()
    const { lines } = await start(folder, 'setsid sleep 60 & echo $!; wait')
    await soon(async () => expect(lines).toHaveLength(1))
    const visitor = execFile('sleep', ['60'], { cwd: join(folder, 'nodes', 'a-node') })
    onTestFinished(() => void visitor.kill('SIGKILL'))
    await launcherIn(folder).sweep()
    await soon(async () => expect(await lives(Number(lines[0]))).toBe(false))
    expect(await lives(visitor.pid ?? 0)).toBe(true)
  },
)

it('a program does not begin before there is a note of it', async () => {
  const { lines } = await start(await emptyFolder(), 'cat ../../running/a-node.json; echo; sleep 5')
  await soon(async () => expect(lines[0]).toContain('"pid"'))
})
