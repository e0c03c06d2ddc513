import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { S3Client } from '@aws-sdk/client-s3'
import { startFauxqs } from 'fauxqs'

/** A store that refuses everything for a while now and then. */
export interface FaultyS3 {
  readonly endpoint: string
  readonly client: S3Client
  /** Requests that were refused. */
  readonly refused: number
  close(): Promise<void>
}

export const S3_IDENTITY = { accessKeyId: 'chaos', secretAccessKey: 'chaos' }

/** `isDown` is asked at every request; `bucket` is made. */
export async function startFaultyS3(bucket: string, isDown: () => boolean): Promise<FaultyS3> {
  const store = await startFauxqs({ port: 0, logger: false })
  store.createBucket(bucket)
  let refused = 0
  const proxy = createServer((incoming, outgoing) => {
    if (isDown()) {
      refused++
      incoming.resume()
      return void outgoing.writeHead(503).end()
    }
    const { method, url: path, headers } = incoming
    const onward = request({ host: '127.0.0.1', port: store.port, method, path, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    // Either side may be killed in the middle.
    onward.on('error', () => outgoing.destroy())
    incoming.on('error', () => onward.destroy())
    outgoing.on('error', () => onward.destroy())
    incoming.pipe(onward)
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const endpoint = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  const client = new S3Client({
    endpoint: `http://127.0.0.1:${store.port}`,
    region: 'us-east-1',
    credentials: S3_IDENTITY,
    forcePathStyle: true,
  })
  return {
    endpoint,
    client,
    get refused() {
      return refused
    },
    async close() {
      client.destroy()
      proxy.closeAllConnections()
      proxy.close()
      await once(proxy, 'close')
      await store.stop()
    },
  }
}
