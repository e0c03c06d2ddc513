import { describe, expect, it } from 'vitest'
import { azureAccount } from '../../../src/workload/delivery/azure-account.ts'

const unset = { connectionString: undefined, account: undefined, key: undefined, sasToken: undefined }
const key = Buffer.from('key').toString('base64')
const proof = { key: Buffer.from('key') }

describe('an account of Azure Blob Storage', () => {
  it.each([
    [
      {
        connectionString: `AccountName=one;AccountKey=${key};EndpointSuffix=core.chinacloudapi.cn`,
        account: 'two',
        key,
      },
      { name: 'one', endpoint: 'https://one.blob.core.chinacloudapi.cn', proof },
    ],
    [
      { account: 'two', key, sasToken: '?sig=1' },
      { name: 'two', endpoint: 'https://two.blob.core.windows.net', proof },
    ],
    [
      { account: 'two', sasToken: '?sig=1' },
      { name: 'two', endpoint: 'https://two.blob.core.windows.net', proof: { sas: 'sig=1' } },
    ],
    [
      { connectionString: 'BlobEndpoint=https://blobs.test/;SharedAccessSignature=sv=1&sig=2=' },
      { name: '', endpoint: 'https://blobs.test', proof: { sas: 'sv=1&sig=2=' } },
    ],
  ])('is the first that the settings name: %j', (settings, account) => {
    expect(azureAccount({ ...unset, ...settings })).toEqual(account)
  })
})
