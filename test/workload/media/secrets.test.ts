import { inspect } from 'node:util'
import pino from 'pino'
import { describe, expect, it } from 'vitest'
import type { Auth, Credentials } from '../../../src/contracts/credentials.ts'
import { createMediaInputs } from '../../../src/workload/media/store-media.ts'
import { emptyFolder } from '../../support/folder.ts'
import { fetching, loading, storedObjects } from '../../support/media.ts'
import { listen } from '../../support/site.ts'

const secret = 'planted-secret'
const basic = Buffer.from(`user:${secret}`).toString('base64')
const auths: readonly Auth[] = [
  { type: 'bearer', token: secret },
  { type: 'basic', username: 'user', password: secret },
  { type: 'header', header_name: 'x-key', header_value: secret },
  { type: 'query', query_param: 'key', query_value: secret },
]
const s3 = (endpoint: string): Auth => ({
  ...{ type: 's3', access_key_id: secret, secret_access_key: secret, session_token: secret, endpoint },
})

/** All that anybody could learn of an error, by a log too. */
const told = (error: unknown): string =>
  inspect(error, { depth: 12, showHidden: true, maxStringLength: null }) +
  JSON.stringify(pino.stdSerializers.err(error as Error))

describe('what is shown to say who asks', () => {
  it('is in no error, however a picture fails to come', async () => {
    const { url } = await listen((request, response) => {
      if (request.url?.startsWith('/reset')) response.destroy()
      else if (request.url?.startsWith('/short'))
        response.writeHead(200, { 'content-length': '9' }).write('x', () => response.destroy())
      else if (request.url?.startsWith('/loop')) response.writeHead(302, { location: request.url }).end()
      else if (request.url?.startsWith('/inside'))
        response.writeHead(302, { location: `http://u:${secret}@10.0.0.1/` }).end()
      else if (request.url?.startsWith('/broken')) response.writeHead(302, { location: `http://u:${secret}@[/` }).end()
      else if (request.url?.startsWith('/text')) response.end(`${secret} is only text`)
      else if (request.url?.includes('/xml'))
        response.writeHead(403).end(`<Error><Code>SignatureDoesNotMatch</Code><Token>${secret}</Token></Error>`)
      else response.writeHead(401).end(secret)
    })
    const folder = await emptyFolder()
    const media = fetching({ objects: storedObjects(), folder: `${folder}/cache` })
    const limits = { maxBytes: 1e6, maxPixels: 1e6, pixelsOf: async () => undefined }
    const take = createMediaInputs({ inputDir: folder, media, ...limits })
    const failure = (image: string, credentials: Credentials): Promise<unknown> =>
      take({ '1': loading(image) }, { folder, credentials, signal: new AbortController().signal, fetch: true }).then(
        () => expect.fail(`${image} came`),
        (error: unknown) => error,
      )
    const query = `?token=${secret}#${secret}`
    const closed = url.replace(/\d+$/, '1')
    const paths = ['reset', 'short', 'loop', 'inside', 'broken', 'text', 'denied'].map(
      (path) => `${url}/${path}${query}`,
    )
    const web = [
      ...paths,
      `${closed}/${query}`,
      `http://10.0.0.1/${query}`,
      `http://nowhere.invalid/${query}`,
      `http://[${query}`,
    ]
    const failures: Promise<unknown>[] = []
    for (const image of web) {
      for (const auth of auths) failures.push(failure(image, [{ url_pattern: '**', auth }]))
      failures.push(failure(image.replace('//', `//user:${secret}@`), []))
    }
    for (const image of ['s3://bucket/a', 's3://bucket/xml', 's3://bucket/reset'])
      for (const endpoint of [url, closed, 'http://10.0.0.1', 'http://nowhere.invalid'])
        failures.push(failure(image, [{ url_pattern: '**', auth: s3(endpoint) }]))
    for (const auth of auths) failures.push(failure('s3://bucket/a', [{ url_pattern: '**', auth }]))
    expect(failures).toHaveLength(11 * 5 + 12 + 4)
    for (const error of await Promise.all(failures)) {
      expect(error).toMatchObject({ name: 'WorkloadError' })
      expect(told(error)).not.toContain(secret)
      expect(told(error)).not.toContain(basic)
    }
  })
})
