import { expect, it } from 'vitest'
import { soon } from './container-groups.ts'
import { type DockerPlace, dockerLauncher, orderOf } from './docker-bench.ts'

const forEver = 'setInterval(() => undefined, 1000)'
/** Answers with what it finds in its environment, and who asks. */
const server = `const { createServer } = require('node:http')
  createServer(({ socket }, response) => response.end(JSON.stringify({ ...process.env, asker: socket.remoteAddress })))
    .listen(3000, () => console.log('ready'))`

/** What a launcher does on any engine. */
export function describeDocker(placeFor: () => DockerPlace | Promise<DockerPlace>): void {
  it('maps its ports to this machine, and has an address of its own', async () => {
    const place = await placeFor()
    const lines: string[] = []
    const environment = { HOSTNAME: 'the-host', INSTANCE_ID: 'the-instance' }
    const running = await dockerLauncher(place).start(
      orderOf(place, server, { ports: [3000, 3001], environment, lines }),
    )
    await soon(async () => expect(lines).toEqual(['ready']))
    const [mapped, other] = [running.portOf(3000), running.portOf(3001)]
    expect([mapped === other, running.portOf(3002)]).toEqual([false, undefined])
    expect(await (await fetch(`http://127.0.0.1:${mapped}/`)).json()).toMatchObject(environment)
    expect(await (await fetch(`http://${running.address}:3000/`)).json()).toMatchObject(environment)
  })

  it('tells what is printed, to the last line, and the exit code', async () => {
    const place = await placeFor()
    const lines: string[] = []
    const line = `console.log('one ü\\ntwo'); console.error('three'); process.stdout.write('four'); process.exitCode = 3`
    const running = await dockerLauncher(place).start(orderOf(place, line, { lines }))
    expect(await running.ended).toBe(3)
    expect(lines.toSorted()).toEqual(['four', 'one ü', 'three', 'two'])
  })

  it('keeps its files when it starts again, and loses them when it is made anew', async () => {
    const place = await placeFor()
    const launcher = dockerLauncher(place)
    const lines: string[] = []
    const line = `const fs = require('node:fs'); console.log('found', fs.existsSync('kept')); fs.writeFileSync('kept', '')`
    const first = orderOf(place, line, { lines })
    for (const fresh of [true, false, false, true])
      expect(await (await launcher.start({ ...first, fresh })).ended).toBe(0)
    expect(lines).toEqual(['found false', 'found true', 'found true', 'found false'])
  })

  it('ends when it is asked to, and is killed when it does not', async () => {
    const place = await placeFor()
    const launcher = dockerLauncher(place)
    const willing = await launcher.start(orderOf(place, `process.on('SIGTERM', () => process.exit(7)); ${forEver}`))
    const lines: string[] = []
    const deaf = `process.on('SIGTERM', () => undefined); ${forEver}; console.log('deaf')`
    const unwilling = await launcher.start(orderOf(place, deaf, { lines }))
    await soon(async () => expect(lines).toEqual(['deaf']))
    await Promise.all([soon(() => willing.exec(['node', '-e', '0'], AbortSignal.timeout(5000))), unwilling.stop(500)])
    expect(await unwilling.ended).toBe(137)
    await willing.stop(5000)
    expect(await willing.ended).toBe(7)
    await willing.stop(5000) // there is nothing left to end
  })

  it('runs commands beside the application, in its folder', async () => {
    const place = await placeFor()
    const lines: string[] = []
    const line = `require('node:fs').writeFileSync('kept', ''); console.log('ready'); ${forEver}`
    const running = await dockerLauncher(place).start(orderOf(place, line, { lines }))
    await soon(async () => expect(lines).toEqual(['ready']))
    const run = (script: string) => running.exec(['node', '-e', script], AbortSignal.timeout(5000))
    expect(await run(`process.exit(require('node:fs').existsSync('kept') ? 4 : 5)`)).toBe(4)
    expect(await running.exec(['no-such-program'], AbortSignal.timeout(5000)).catch(() => 'refused')).not.toBe(0)
    await expect(running.exec(['node', '-e', forEver], AbortSignal.timeout(200))).rejects.toThrow()
  })

  it('says to its owner why it does not start', async () => {
    const place = await placeFor()
    const lines: string[] = []
    const order = orderOf(place, '0', { lines })
    const container = { ...order.container, command: ['no-such-program'] }
    await expect(dockerLauncher(place).start({ ...order, container })).rejects.toThrow('executable file not found')
    expect(lines.join()).toContain('no-such-program')
  })

  it('ends and removes what an earlier process left, and nobody else’s', async () => {
    const place = await placeFor()
    const line = `process.on('SIGTERM', () => process.exit(0)); ${forEver}`
    const left = await dockerLauncher(place, { platformId: 'one' }).start(orderOf(place, line))
    const other = await dockerLauncher(place, { platformId: 'other' }).start(orderOf(place, line))
    await soon(() => left.exec(['node', '-e', '0'], AbortSignal.timeout(5000)))
    await dockerLauncher(place, { platformId: 'one' }).sweep()
    expect([0, 143]).toContain(await left.ended)
    expect(await other.exec(['node', '-e', '0'], AbortSignal.timeout(5000))).toBe(0)
  })

  it('takes back a container that was removed behind its back as killed', async () => {
    const place = await placeFor()
    const launcher = dockerLauncher(place)
    const order = orderOf(place, forEver)
    const running = await launcher.start(order)
    await launcher.leave(order.machineId)
    expect(await running.ended).toBe(137)
  })
}
