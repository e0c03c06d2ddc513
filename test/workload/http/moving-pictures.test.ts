import sharp from 'sharp'
import { expect, it, onTestFinished } from 'vitest'
import { promptAnswerSchema } from '../../../src/contracts/prompt.ts'
import { node, picture, saving } from '../../support/prompts.ts'
import { startServer } from '../../support/server.ts'

it('answers with a moving picture as one file, as its node made it, beside converted ones', async () => {
  const server = await startServer()
  onTestFinished(async () => void (await server.stop()))
  const image = picture({ rows: 3 })
  const settings = { fps: 8, lossless: true, quality: 80, method: 'default', filename_prefix: 'moving' }
  const moving = node('SaveAnimatedWEBP', { images: ['image', 0], ...settings })
  const text = node('PreviewAny', { source: ['image', 0] })
  const body = { prompt: saving(image, { moving, text }), id: 'm', convert_output: { format: 'jpeg' } }
  const { filenames, images, warnings } = promptAnswerSchema.parse(await (await server.post(body)).json())
  expect(filenames.toSorted()).toEqual([
    'm_moving_00001_.webp',
    ...[1, 2, 3].map((count) => `m_test_0000${count}_.jpeg`),
  ])
  expect(warnings).toEqual(['moving pictures are not converted: they come as their node made them'])
  const file = Buffer.from(images[filenames.indexOf('m_moving_00001_.webp')]!, 'base64')
  expect(await sharp(file, { pages: -1 }).metadata()).toMatchObject({ pages: 3, delay: [125, 125, 125] })
})
