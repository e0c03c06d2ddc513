import type { Readable, Writable } from 'node:stream'

/** How long one side may be silent, in milliseconds, and what is thrown then. */
export interface Patience {
  readonly ms: number
  readonly late: () => Error
}

/** Sees every piece before it is passed on; what it throws ends the pumping. */
export type OnPiece = (piece: Buffer) => void

/**
 * Passes on what `source` has, as fast as `sink` takes it, and resolves when that was all; it ends neither. Throws when
 * one of them breaks, or is waited for too long.
 */
export function pump(
  source: Readable,
  sink: Writable,
  patience: { readonly source: Patience; readonly sink: Patience },
  onPiece: OnPiece = () => undefined,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined
    const waitFor = ({ ms, late }: Patience) => {
      clearTimeout(timer)
      timer = setTimeout(() => fail(late()), ms)
    }
    const stop = () => {
      clearTimeout(timer)
      source.off('data', pass).off('end', end).off('error', fail).off('close', broken)
      sink.off('drain', go).off('error', fail).off('close', broken)
    }
    const fail = (error: unknown) => {
      stop()
      reject(error)
    }
    const broken = () => fail(new Error('the connection was closed'))
    const end = () => {
      stop()
      resolve()
    }
    const go = () => {
      waitFor(patience.source)
      source.resume()
    }
    const pass = (piece: Buffer) => {
      try {
        onPiece(piece)
      } catch (error) {
        return fail(error)
      }
      if (sink.write(piece)) return waitFor(patience.source)
      source.pause()
      waitFor(patience.sink)
    }
    if (source.destroyed || sink.destroyed) return broken()
    source.on('data', pass).on('end', end).on('error', fail).on('close', broken)
    sink.on('drain', go).on('error', fail).on('close', broken)
    go()
  })
}
