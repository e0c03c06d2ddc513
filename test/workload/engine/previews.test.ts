import { readFile } from 'node:fs/promises'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Prompt } from '../../../src/contracts/prompt.ts'
import { type Audience, createAudience } from '../../../src/workload/engine/audience.ts'
import type { EngineJob, NodeEvent } from '../../../src/workload/engine/protocol.ts'
import { engineOptions, jobOf, launchEngines, type StartedEngines } from '../../support/engine.ts'

const STEPS = 16

/** Computes everything anew. */
let engines: StartedEngines
beforeAll(async () => {
  const { config } = engineOptions()
  engines = await launchEngines({ config: { ...(config as object), resultCacheBytes: 0 } })
})
afterAll(() => engines.close())

/** Two of the bundled model's pictures, in so many steps that it takes a while. */
async function drawing(steps: number): Promise<EngineJob> {
  const { prompt } = JSON.parse(await readFile('docs/examples/txt2img.json', 'utf8')) as { prompt: Prompt }
  Object.assign(prompt['5']!.inputs, { steps, seed: 12345 })
  Object.assign(prompt['4']!.inputs, { batch_size: 2 })
  return { ...(await jobOf(prompt)), outputs: ['7'] }
}

async function run(job: EngineJob, audience?: Audience) {
  const events: NodeEvent[] = []
  const { files } = await engines.run(job, {
    signal: new AbortController().signal,
    ...(audience && { audience }),
    onEvent: (event) => events.push(event),
  })
  const previews = events.filter(({ kind }) => kind === 'preview')
  return { events, previews, picture: await readFile(files[0]!.path) }
}

async function meanColour(picture: Uint8Array): Promise<readonly number[]> {
  const { channels } = await sharp(picture).stats()
  return channels.slice(0, 3).map(({ mean }) => mean)
}

describe('a sampler that is watched', () => {
  it('shows the first picture it is making, and makes the same one as without', async () => {
    const audience = createAudience()
    audience.join()
    const seen = await run(await drawing(STEPS), audience)
    expect(seen.previews.length).toBeGreaterThanOrEqual(2)
    const { preview, node, max } = seen.previews.at(-1)!
    expect([node, max]).toEqual(['5', STEPS])
    expect(await sharp(preview).metadata()).toMatchObject({ format: 'jpeg', width: 512, height: 512 })
    const [shown, made] = [await meanColour(preview!), await meanColour(seen.picture)]
    for (const channel of [0, 1, 2]) expect(Math.abs(shown[channel]! - made[channel]!)).toBeLessThan(20)
    // Reds, greens and blues of this picture are far enough apart to tell a matrix that mixes them up.
    expect(Math.max(...made) - Math.min(...made)).toBeGreaterThan(30)

    const unseen = await run(await drawing(STEPS), createAudience())
    expect(unseen.previews).toEqual([])
    expect(unseen.picture.equals(seen.picture)).toBe(true)
  })

  it('shows itself to those who come while it is at work, and no longer than they stay', async () => {
    const audience = createAudience()
    const steps: { readonly kind: NodeEvent['kind']; readonly value: number | undefined }[] = []
    let leave: (() => void) | undefined
    await engines.run(await drawing(STEPS), {
      signal: new AbortController().signal,
      audience,
      onEvent({ kind, value }) {
        if (kind === 'progress' && value! >= 3) leave ??= audience.join()
        if (kind === 'preview') leave!()
        steps.push({ kind, value })
      },
    })
    const previews = steps.filter(({ kind }) => kind === 'preview')
    expect(previews.length).toBeGreaterThanOrEqual(1)
    expect(previews.length).toBeLessThanOrEqual(2) // one may have been on its way
    expect(previews[0]!.value).toBeGreaterThan(3)
  })

  it('shows two prompts that share its work to the one that is watched', async () => {
    const audience = createAudience()
    audience.join()
    const [watched, other] = await Promise.all([run(await drawing(STEPS), audience), run(await drawing(STEPS))])
    expect(watched.previews.length).toBeGreaterThan(0)
    expect(other.previews).toEqual([])
  })
})
