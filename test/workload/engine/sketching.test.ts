import { describe, expect, it } from 'vitest'
import { silentLog } from '../../../src/common/log.ts'
import { createAudience } from '../../../src/workload/engine/audience.ts'
import { createPreviewing } from '../../../src/workload/engine/previewing.ts'
import type { NodeEvent, Picture, Sketch } from '../../../src/workload/engine/protocol.ts'
import { createSketching } from '../../../src/workload/engine/sketching.ts'

const picture: Picture = { data: Uint8Array.of(1, 2, 3), width: 1, height: 1, channels: 3 }

describe('sketches of a run', () => {
  function setUp(wanted: boolean) {
    const [sent, drawn]: [Sketch[], number[]] = [[], []]
    const clock = { now: 1000 }
    const sketching = createSketching(
      wanted,
      (sketch) => sent.push(sketch),
      () => clock.now,
    )
    const step = async (value: number, at: number) => {
      clock.now = at
      const sketch = () => {
        drawn.push(value)
        return picture
      }
      sketching.note({ kind: 'progress', node: '3', value, max: 9, sketch })
      await Promise.resolve()
    }
    return { sketching, sent, drawn, step }
  }

  it('are drawn four times a second at most, beginning with the first step', async () => {
    const { sent, drawn, step } = setUp(true)
    for (const [i, at] of [1000, 1100, 1249, 1250, 1400, 1500].entries()) await step(i + 1, at)
    expect(drawn).toEqual([1, 4, 6])
    expect(sent[1]).toEqual({ node: '3', value: 4, max: 9, picture })
  })

  it('are drawn only while somebody looks', async () => {
    const { sketching, drawn, step } = setUp(false)
    await step(1, 1000)
    sketching.wanted = true
    await step(2, 2000)
    sketching.wanted = false
    await step(3, 3000)
    expect(drawn).toEqual([2])
  })

  it('need a node that draws', () => {
    const { sketching, sent } = setUp(true)
    sketching.note({ kind: 'progress', node: '3', value: 1, max: 2 })
    sketching.note({ kind: 'started', node: '3' })
    expect(sent).toEqual([])
  })
})

describe('previews of a run', () => {
  const sketch = (value: number): Sketch => ({ node: '3', value, max: 9, picture })
  const turn = () => new Promise((resolve) => setImmediate(resolve))

  it('leave out what comes while one is being encoded', async () => {
    const told: NodeEvent[] = []
    const finish: (() => void)[] = []
    const encode = () => new Promise<Uint8Array>((resolve) => finish.push(() => resolve(Uint8Array.of(255))))
    const { show } = createPreviewing(encode, silentLog, (event) => told.push(event))
    show(sketch(1))
    show(sketch(2))
    finish[0]!()
    await turn()
    show(sketch(3))
    finish[1]!()
    await turn()
    expect(told.map(({ value }) => value)).toEqual([1, 3])
    expect(told[0]).toMatchObject({ kind: 'preview', node: '3', max: 9, preview: Uint8Array.of(255) })
  })

  it('go on behind a sketch that cannot be encoded', async () => {
    const told: NodeEvent[] = []
    const encode = async ({ width }: Picture) => {
      if (width === 0) throw new Error('nothing to see')
      return Uint8Array.of(1)
    }
    const { show } = createPreviewing(encode, silentLog, (event) => told.push(event))
    show({ ...sketch(1), picture: { ...picture, width: 0 } })
    await turn()
    show(sketch(2))
    await turn()
    expect(told.map(({ value }) => value)).toEqual([2])
  })
})

it('an audience tells when the first comes and when the last has gone', () => {
  const audience = createAudience()
  const seen: boolean[] = []
  const forget = audience.onChange(() => seen.push(audience.present))
  const [one, other] = [audience.join(), audience.join()]
  one()
  other()
  const last = audience.join()
  forget()
  last()
  expect(seen).toEqual([true, false, true])
  expect(audience.present).toBe(false)
})
