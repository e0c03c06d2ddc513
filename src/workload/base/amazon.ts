/** Where Amazon's S3 of a region answers. */
export const amazonEndpoint = (region: string): string =>
  `https://s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`
