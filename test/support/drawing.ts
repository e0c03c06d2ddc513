import sharp from 'sharp'
import { expect } from 'vitest'
import type { PromptAnswer } from '../../src/contracts/prompt.ts'
import type { Server } from './server.ts'
import { promptOf, type Source, step } from './workflow.ts'

/** A picture's bytes, three or four a pixel. */
export interface Picture {
  readonly width: number
  readonly height: number
  readonly data: Uint8Array
}

/** Has `server` draw all of `images` in one prompt → their pictures, those of a batch one after another. */
export async function draw(server: Server, ...images: readonly Source[]): Promise<readonly Picture[]> {
  const saved = images.map((image) => step('SaveImage', { images: image, filename_prefix: 'easel' }))
  const response = await server.post({ prompt: promptOf(...saved) })
  const answer = (await response.json()) as PromptAnswer
  if (response.status !== 200) throw new Error(`status ${response.status}: ${JSON.stringify(answer).slice(0, 500)}`)
  return Promise.all(answer.images.map((image) => pictureOf(Buffer.from(image, 'base64'))))
}

async function pictureOf(file: Buffer): Promise<Picture> {
  const { data, info } = await sharp(file).raw().toBuffer({ resolveWithObject: true })
  return { width: info.width, height: info.height, data }
}

/** The largest difference of two pictures of one size, of 255. */
export function difference(a: Picture | undefined, b: Picture | undefined): number {
  if (!a || !b || a.width !== b.width || a.height !== b.height) throw new Error('the pictures are of different sizes')
  return a.data.reduce((worst, value, at) => Math.max(worst, Math.abs(value - b.data[at]!)), 0)
}

/** Expects each of `same` to be the picture of `plain` to the byte, and each of `other` to be another one. */
export async function expectPictures(
  server: Server,
  plain: Source,
  same: readonly Source[],
  other: readonly Source[] = [],
): Promise<void> {
  const [first, ...rest] = await draw(server, plain, ...same, ...other)
  const differences = rest.map((picture) => difference(first, picture))
  expect(differences.slice(0, same.length)).toEqual(same.map(() => 0))
  for (const value of differences.slice(same.length)) expect(value).toBeGreaterThan(2)
}
