import type { GatewayGroup, Target } from './group.ts'

/** A request's place at an instance. */
export interface Seat {
  readonly target: Target
  /** To be called once, when the request has ended. */
  leave(): void
}

/** The places at the instances of one group. */
export interface Seats {
  /** A place at the instance whose turn it is, if any ready one is free; never at `except`. */
  take(group: GatewayGroup, targets: readonly Target[], except: string | undefined): Seat | undefined
  /** Forgets instances that are not among `targets` and have no request any more; tells whether any is left. */
  tidy(targets: readonly Target[]): boolean
}

interface Load {
  open: number
  /** When it was last chosen, in choices made so far. */
  chosen: number
}

/** `onFree` is called after each request that ends. */
export function createSeats(onFree: () => void): Seats {
  const loads = new Map<string, Load>()
  let choices = 0

  const loadOf = (id: string): Load => {
    const load = loads.get(id) ?? { open: 0, chosen: 0 }
    loads.set(id, load)
    return load
  }

  return {
    take({ networking }, targets, except) {
      const { load_balancer, single_connection_limit } = networking
      let best: { readonly target: Target; readonly load: Load } | undefined
      for (const target of targets) {
        const load = loadOf(target.id)
        if (target.id === except || (single_connection_limit && load.open > 0)) continue
        const fewer = load_balancer === 'least_number_of_connections' && best ? load.open - best.load.open : 0
        // Who was chosen longest ago is next: that is taking turns, whoever comes and goes.
        if (!best || fewer < 0 || (fewer === 0 && load.chosen < best.load.chosen)) best = { target, load }
      }
      if (!best) return undefined
      const { target, load } = best
      load.open++
      load.chosen = ++choices
      return {
        target,
        leave() {
          load.open--
          onFree()
        },
      }
    },
    tidy(targets) {
      for (const [id, { open }] of loads)
        if (open === 0 && !targets.some((target) => target.id === id)) loads.delete(id)
      return loads.size > 0
    },
  }
}
