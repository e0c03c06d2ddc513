import { readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openBody, readAsked, writeAsked } from '../../../src/workload/jobs/asked-prompt.ts'
import { createSeal } from '../../../src/workload/jobs/seal.ts'
import { emptyFolder } from '../../support/folder.ts'
import { node } from '../../support/prompts.ts'
import { requestOf } from '../../support/queues.ts'

const signed = 'https://host/a.png?Signature=planted-1&n=18446744073709551615'
const other = 'https://name:planted-2@host/a.png?Signature=planted-3&n=1'
const body = {
  webhook_v2: 'https://receiver/',
  prompt: {
    2: node('LoadImage', { image: signed, again: signed }),
    1: { ...node('LoadImage', { image: other, from: ['2', 0] }), _meta: { title: 'a' } },
    3: node('LoadImage', { image: 'https://host/plain.png', seed: 18446744073709551615n, text: 'http:// a?b=c' }),
  },
  credentials: [{ url_pattern: '**', auth: { type: 'bearer', token: 'planted-4' } }],
}
const kept = async (asked: string) => readAsked(requestOf('1', { asked }))
const keyIn = async () => join(await emptyFolder(), 'data', 'credentials.key')

describe('a prompt that waits', () => {
  it.each([undefined, 'a secret of all servers'])(
    'is kept without what is secret in it, under the key %s',
    async (secret) => {
      const seal = createSeal(secret, await keyIn(), true)
      const asked = await writeAsked(body, 'request', seal)
      expect(asked).not.toContain('planted')
      const { body: told } = await kept(asked)
      expect(told).toMatchObject({
        webhook_v2: body.webhook_v2,
        prompt: { 3: { inputs: { seed: 18446744073709551615n } } },
      })
      expect(await openBody(await kept(asked), seal)).toEqual(body)
    },
  )

  it('and has no secrets is kept as it came', async () => {
    const plain = { prompt: { 3: node('LoadImage', { image: 'https://host/plain.png' }) } }
    const asked = await writeAsked(plain, 'request', createSeal(undefined, '/nowhere/key', true))
    expect(await kept(asked)).toMatchObject({ body: plain })
  })

  it('fails where its secrets cannot be opened, for without them it would be another prompt', async () => {
    const asked = await writeAsked(body, 'request', createSeal('one', '', true))
    await expect(openBody(await kept(asked), createSeal('another', '', true))).rejects.toMatchObject({
      code: 'execution-failed',
      message: expect.stringContaining('CREDENTIALS_KEY'),
    })
  })

  it('keeps its URLs readable where servers share a queue and no key', async () => {
    const { credentials: _, ...open } = body
    const asked = await writeAsked(open, 'request', createSeal(undefined, '/nowhere/key', false))
    expect(await openBody(await kept(asked), createSeal(undefined, '/nowhere/other', false))).toEqual(open)
  })
})

describe('the key of a machine', () => {
  it('is made once, also by several at a time, and for nobody else to read', async () => {
    const file = await keyIn()
    const seals = Array.from({ length: 8 }, () => createSeal(undefined, file, true))
    const closed = await Promise.all(seals.map((seal, i) => seal.close(`text ${i}`)))
    const [reader] = seals
    expect(await Promise.all(closed.map((text) => reader!.open(text)))).toEqual(seals.map((_, i) => `text ${i}`))
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect(await readdir(join(file, '..'))).toEqual(['credentials.key'])
  })

  it('that cannot be kept is an error that may pass', async () => {
    const file = join(await emptyFolder(), 'file')
    await writeFile(file, '')
    const seal = createSeal(undefined, join(file, 'data', 'key'), true)
    await expect(seal.close('text')).rejects.toMatchObject({ code: 'not-ready' })
  })
})
