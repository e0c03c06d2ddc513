import { connect as open, type Socket } from 'node:net'

/** An instance that has not accepted a connection by then is not listening, in milliseconds. */
const CONNECT_MS = 5000
/** A listener on this machine answers at once; this is for one that has much to do. */
const FAMILY_MS = 2000

/** Both loopback addresses: an application listens where it likes. */
const addresses = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
]

/** Connects to a port of this machine by whichever address accepts. Throws what the socket says, or `signal`'s reason. */
export function connect(port: number, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = open({
      host: 'localhost',
      port,
      noDelay: true,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: FAMILY_MS,
      // The type of the callback is that of one address; asked for all, as here, it takes a list.
      lookup: (_host, _options, done) => done(null, addresses as never),
    })
    const late = setTimeout(() => socket.destroy(new Error('the connection was not accepted in time')), CONNECT_MS)
    const abort = () => socket.destroy(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    const settled = () => {
      clearTimeout(late)
      signal.removeEventListener('abort', abort)
    }
    socket.once('error', reject).once('connect', () => {
      socket.off('error', reject)
      resolve(socket)
    })
    socket.once('connect', settled).once('close', settled)
  })
}
