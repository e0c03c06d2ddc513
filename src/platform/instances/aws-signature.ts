import { createHash, createHmac } from 'node:crypto'

/** A request to a service of AWS, as it is signed; every header given here is. */
export interface AwsRequest {
  readonly method: string
  readonly url: URL
  /** Names in lower case, without `host` and `x-amz-date`. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface AwsSigner {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly region: string
  readonly service: string
  /** Epoch milliseconds. */
  readonly time: number
}

const ALGORITHM = 'AWS4-HMAC-SHA256'

/** The headers of a request, signed by AWS's Signature Version 4. Paths and queries must need no escaping. */
export function signedHeaders({ method, url, headers, body }: AwsRequest, signer: AwsSigner): Record<string, string> {
  const { accessKeyId, secretAccessKey, region, service, time } = signer
  const date = new Date(time).toISOString().replaceAll(/[-:]|\.\d{3}/g, '')
  const day = date.slice(0, 8)
  const all: Record<string, string> = { ...headers, host: url.host, 'x-amz-date': date }
  const names = Object.keys(all).sort()
  const query = url.search.slice(1).split('&').sort().join('&')
  const canonical = [
    ...[method, url.pathname, query],
    ...names.map((name) => `${name}:${all[name]?.trim()}`),
    ...['', names.join(';'), digest(body)],
  ].join('\n')
  const scope = `${day}/${region}/${service}/aws4_request`
  const key = [day, region, service, 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${secretAccessKey}`)
  const signature = hmac(key, [ALGORITHM, date, scope, digest(canonical)].join('\n')).toString('hex')
  const credential = `Credential=${accessKeyId}/${scope}`
  return {
    ...all,
    authorization: `${ALGORITHM} ${credential}, SignedHeaders=${names.join(';')}, Signature=${signature}`,
  }
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex')

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()
