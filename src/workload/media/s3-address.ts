import { WorkloadError } from '../base/errors.ts'

/** One object of a store. */
export interface S3Address {
  readonly bucket: string
  /** Literal: nothing in it is an escape. */
  readonly key: string
}

/**
 * What an `s3://` string names: split at the first `/` behind the bucket and not parsed as a URL, because keys may hold
 * anything. Segments `.` and `..` are refused: a proxy before a store may take them for a way into another bucket.
 */
export function s3Address(text: string): S3Address {
  const [, bucket = '', key = ''] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])\/(.+)$/is.exec(text) ?? []
  const plain = !key.includes('\0') && !key.split('/').some((segment) => segment === '.' || segment === '..')
  if (bucket !== '' && bucket === bucket.toLowerCase() && plain && Buffer.byteLength(key) <= 1024)
    return { bucket, key }
  throw new WorkloadError('url-not-allowed', 'an S3 URL reads s3://<bucket>/<key>')
}
