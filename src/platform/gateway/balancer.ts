import { PlatformError } from '../base/errors.ts'
import type { GatewayGroup, Target } from './group.ts'
import { createSeats, type Seat, type Seats } from './seats.ts'

/** How often those who wait look for instances that have become ready, in milliseconds. */
const LOOK_MS = 100

/** Chooses instances for requests (platform reference, section 23). */
export interface Balancer {
  /**
   * Resolves with a place at a ready instance, in order of arrival where an instance takes one request at a time. Throws
   * 503 when no instance is ready, 504 after the wait, and `signal`'s reason.
   */
  take(group: GatewayGroup, wish: SeatWish): Promise<Seat>
}

export interface SeatWish {
  /** Milliseconds. */
  readonly wait: number
  readonly signal: AbortSignal
  /** An instance that has just refused this request. Who was refused goes before all who wait. */
  readonly except?: string
}

interface Waiter {
  readonly group: GatewayGroup
  readonly except: string | undefined
  seat(seat: Seat): void
}

interface Room {
  readonly seats: Seats
  /** Who goes first stands first. */
  readonly waiting: Waiter[]
  looking: NodeJS.Timeout | undefined
}

export function createBalancer(targetsOf: (groupId: string) => readonly Target[]): Balancer {
  const rooms = new Map<string, Room>()

  /** Gives free places to those who wait. */
  const settle = (id: string, room: Room): void => {
    const { seats, waiting } = room
    const targets = targetsOf(id)
    for (const waiter of [...waiting]) {
      const seat = seats.take(waiter.group, targets, waiter.except)
      if (!seat) continue
      leaveLine(room, waiter)
      waiter.seat(seat)
    }
    if (!seats.tidy(targets) && waiting.length === 0) rooms.delete(id)
  }

  const roomOf = (id: string): Room => {
    const known = rooms.get(id)
    if (known) return known
    // A group that is gone is not asked for any more: it is forgotten when another one comes.
    for (const [other, { seats, waiting }] of rooms)
      if (!seats.tidy(targetsOf(other)) && waiting.length === 0) rooms.delete(other)
    const room: Room = { seats: createSeats(() => settle(id, room)), waiting: [], looking: undefined }
    rooms.set(id, room)
    return room
  }

  const line = (group: GatewayGroup, room: Room, { wait, signal, except }: SeatWish): Promise<Seat> =>
    new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(late)
        signal.removeEventListener('abort', abort)
      }
      const giveUp = (reason: unknown) => {
        end()
        leaveLine(room, waiter)
        reject(reason)
      }
      const abort = () => giveUp(signal.reason)
      const late = setTimeout(() => giveUp(new PlatformError(504, 'No container became free in time.')), wait)
      const waiter: Waiter = {
        group,
        except,
        seat(seat) {
          end()
          resolve(seat)
        },
      }
      signal.addEventListener('abort', abort, { once: true })
      if (except === undefined) room.waiting.push(waiter)
      else room.waiting.unshift(waiter)
      room.looking ??= setInterval(() => settle(group.id, room), LOOK_MS)
    })

  return {
    async take(group, wish) {
      wish.signal.throwIfAborted()
      const targets = targetsOf(group.id).filter(({ id }) => id !== wish.except)
      if (targets.length === 0) throw notReady()
      const room = roomOf(group.id)
      const first = room.waiting.length === 0 || wish.except !== undefined
      return (first ? room.seats.take(group, targets, wish.except) : undefined) ?? line(group, room, wish)
    },
  }
}

/** The answer when no instance is ready, or none accepts the connection. */
export const notReady = (cause?: unknown): PlatformError =>
  new PlatformError(503, 'The container is not ready to handle the request.', { cause })

function leaveLine(room: Room, waiter: Waiter): void {
  const at = room.waiting.indexOf(waiter)
  if (at >= 0) room.waiting.splice(at, 1)
  if (room.waiting.length > 0) return
  clearInterval(room.looking)
  room.looking = undefined
}
