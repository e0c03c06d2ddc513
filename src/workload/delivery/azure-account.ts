import { createHmac } from 'node:crypto'

export interface AzureSettings {
  readonly connectionString: string | undefined
  readonly account: string | undefined
  readonly key: string | undefined
  readonly sasToken: string | undefined
}

/** An account of Azure Blob Storage and how to show who asks: a key that signs each request, or a token in its query. */
export interface AzureAccount {
  readonly name: string
  /** Without a slash at its end. */
  readonly endpoint: string
  readonly proof: { readonly key: Buffer } | { readonly sas: string }
}

/** The account that the settings name, the first of their three forms wins; a string says why there is none. */
export function azureAccount({ connectionString, account, key, sasToken }: AzureSettings): AzureAccount | string {
  if (connectionString !== undefined) return accountIn(connectionString)
  if (account === undefined) return 'this server has no AZURE_STORAGE_CONNECTION_STRING and no AZURE_STORAGE_ACCOUNT'
  if (!/^[a-z0-9]{3,24}$/.test(account)) return 'AZURE_STORAGE_ACCOUNT of this server is not the name of an account'
  const endpoint = `https://${account}.blob.core.windows.net`
  const proof = proofOf(key, sasToken)
  if (proof) return { name: account, endpoint, proof }
  return 'this server has neither AZURE_STORAGE_KEY nor AZURE_STORAGE_SAS_TOKEN, and no default identity'
}

function accountIn(connectionString: string): AzureAccount | string {
  const pairs = connectionString.split(';').flatMap((pair) => {
    const [, name, value] = /^\s*([^=]+)=(.*)$/.exec(pair) ?? []
    return name === undefined || value === undefined ? [] : [[name.toLowerCase(), value.trim()] as const]
  })
  const of = new Map(pairs)
  const name = of.get('accountname') ?? ''
  const scheme = of.get('defaultendpointsprotocol') ?? 'https'
  const suffix = of.get('endpointsuffix') ?? 'core.windows.net'
  const endpoint = (of.get('blobendpoint') ?? `${scheme}://${name}.blob.${suffix}`).replace(/\/+$/, '')
  const proof = proofOf(of.get('accountkey'), of.get('sharedaccesssignature'))
  const what = 'AZURE_STORAGE_CONNECTION_STRING of this server'
  if (!proof) return `${what} has neither AccountKey nor SharedAccessSignature`
  if (name === '' && ('key' in proof || !of.has('blobendpoint'))) return `${what} has no AccountName`
  if (!URL.canParse(endpoint) || !/^https?:$/.test(new URL(endpoint).protocol)) return `${what} has no usable endpoint`
  return { name, endpoint, proof }
}

const proofOf = (key: string | undefined, sas: string | undefined): AzureAccount['proof'] | undefined =>
  key !== undefined
    ? { key: Buffer.from(key, 'base64') }
    : sas !== undefined
      ? { sas: sas.replace(/^\?/, '') }
      : undefined

/** A request as far as its signature covers it. */
export interface AzureRequest {
  readonly method: string
  readonly url: URL
  /** In lower case. */
  readonly headers: Readonly<Record<string, string>>
}

/**
 * The `Authorization` header of a request to Blob Storage ("Authorize with Shared Key", versions from 2015-02-21 on):
 * HMAC-SHA256 over the method, eleven headers, all that begin with `x-ms-`, and the account with path and query.
 */
export function sharedKey(account: string, key: Buffer, { method, url, headers }: AzureRequest): string {
  const length = headers['content-length']
  const standard = [
    ...['content-encoding', 'content-language'].map((name) => headers[name]),
    length === '0' ? '' : length,
    ...['content-md5', 'content-type', 'date', 'if-modified-since', 'if-match'].map((name) => headers[name]),
    ...['if-none-match', 'if-unmodified-since', 'range'].map((name) => headers[name]),
  ]
  const own = Object.keys(headers).filter((name) => name.startsWith('x-ms-'))
  const lines = [
    method,
    ...standard.map((value) => value ?? ''),
    ...own.sort().map((name) => `${name}:${headers[name]}`),
    `/${account}${url.pathname}`,
    ...[...url.searchParams].map(([name, value]) => `${name.toLowerCase()}:${value}`).sort(),
  ]
  return `SharedKey ${account}:${createHmac('sha256', key).update(lines.join('\n')).digest('base64')}`
}
