import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { answerHeaders, upgradeHeaders } from './headers.ts'

/** Tells a client that its connection speaks the other protocol from here on. */
export function agree(client: Socket, answer: IncomingMessage): void {
  const headers = [...upgradeHeaders(answer), ...answerHeaders(answer)]
  const lines = headers.flatMap((name, i) => (i % 2 === 0 ? `${name}: ${headers[i + 1]}` : []))
  const head = [`HTTP/1.1 101 ${answer.statusMessage || STATUS_CODES[101]}`, ...lines]
  client.write(Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1'))
}

/** Passes bytes both ways and resolves when both sides are closed: one closes the other, and so do `idleMs` of silence. */
export function tunnel(client: Socket, instance: Socket, idleMs: number): Promise<void> {
  const cut = () => {
    client.destroy()
    instance.destroy()
  }
  const closed = [joined(client, instance, idleMs, cut), joined(instance, client, idleMs, cut)]
  return Promise.all(closed).then(() => undefined)
}

function joined(from: Socket, to: Socket, idleMs: number, cut: () => void): Promise<void> {
  return new Promise((resolve) => {
    // Every byte passes through both, so either timer would do while both are open.
    from.setTimeout(idleMs, cut)
    from.on('error', cut)
    from.once('close', () => {
      to.destroySoon()
      resolve()
    })
    from.pipe(to)
  })
}
