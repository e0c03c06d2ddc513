import { setTimeout as sleep } from 'node:timers/promises'
import type { Probe } from '../../contracts/platform/probe.ts'

export type ProbeResult = 'success' | 'failure'

/** Looks again and again until `signal` aborts, and tells each change of the result (platform reference, section 18). */
export async function watchProbe(
  probe: Probe,
  check: (signal: AbortSignal) => Promise<boolean>,
  onResult: (result: ProbeResult) => void,
  signal: AbortSignal,
): Promise<void> {
  let result: ProbeResult | undefined
  let row = { good: true, length: 0 }
  let pause = probe.initial_delay_seconds * 1000
  while (!signal.aborted) {
    await sleep(pause, undefined, { signal }).catch(() => undefined) // only an abort rejects it, see the line above
    if (signal.aborted) return
    const began = performance.now()
    const good = await inTime(check, probe.timeout_seconds * 1000, signal)
    if (signal.aborted) return
    row = { good, length: row.good === good ? row.length + 1 : 1 }
    const next = good ? 'success' : 'failure'
    if (next !== result && row.length >= (good ? probe.success_threshold : probe.failure_threshold)) {
      result = next
      onResult(result)
    }
    pause = Math.max(0, probe.period_seconds * 1000 - (performance.now() - began))
  }
}

/** Whether the check succeeded within `limitMs`; every way to fail is the same. */
async function inTime(
  check: (signal: AbortSignal) => Promise<boolean>,
  limitMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const limit = new AbortController()
  const end = (): void => limit.abort()
  const timer = setTimeout(end, limitMs)
  signal.addEventListener('abort', end)
  const late = new Promise<boolean>((resolve) => limit.signal.addEventListener('abort', () => resolve(false)))
  try {
    return await Promise.race([check(limit.signal).catch(() => false), late])
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', end)
  }
}
