import { cp, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findSpeechModel, whatToInstall } from '../../../src/workload/speech/find-speech-model.ts'
import { emptyFolder } from '../../support/folder.ts'
import { openWhisper, tinyWhisper, toneSpeech } from '../../support/speech.ts'

/** A folder of models with one speech model of this name. */
async function modelsWith(name: string): Promise<{ readonly models: string; readonly folder: string }> {
  const models = await emptyFolder()
  const folder = join(models, 'whisper', name)
  await cp(tinyWhisper, folder, { recursive: true })
  return { models, folder }
}

describe('a speech model', () => {
  it('is the first folder that has all files', async () => {
    const { models, folder } = await modelsWith('tiny')
    await mkdir(join(models, 'whisper', 'a-begun-download'))
    await writeFile(join(models, 'whisper', 'a-begun-download', 'config.json'), '{}')
    expect(await findSpeechModel(models)).toBe(folder)
  })

  it('is not there where there is no folder for it, and what to install says where it belongs', async () => {
    const models = await emptyFolder()
    expect(await findSpeechModel(models)).toBeUndefined()
    expect(whatToInstall(models)).toContain(join(models, 'whisper'))
  })

  it('may have its graphs in a folder of their own, with names that say how exact they are', async () => {
    const { models, folder } = await modelsWith('tiny')
    await mkdir(join(folder, 'onnx'))
    for (const name of await readdir(folder))
      if (/\.(onnx|bin)$/.test(name)) await rename(join(folder, name), join(folder, 'onnx', name))
    await rm(join(folder, 'onnx', 'decoder_model.onnx'))
    await rm(join(folder, 'onnx', 'decoder_with_past_model.onnx'))
    await rename(join(folder, 'onnx', 'encoder_model.onnx'), join(folder, 'onnx', 'encoder_model_fp16.onnx'))
    expect(await findSpeechModel(models)).toBe(folder)
    const { segments } = await (await openWhisper(folder)).transcribe(toneSpeech('hi'), {
      task: 'transcribe',
      words: false,
      signal: new AbortController().signal,
    })
    expect(segments).toMatchObject([{ text: ' hi' }])
  })

  it.each([
    ['encoder_model.onnx', 'encoder_model.onnx'],
    ['tokenizer.json', 'tokenizer.json'],
    ['config.json', 'config.json'],
  ])('that lacks %s is not opened, and says so', async (name, said) => {
    const { models, folder } = await modelsWith('tiny')
    await rm(join(folder, name))
    expect(await findSpeechModel(models)).toBeUndefined()
    await expect(openWhisper(folder)).rejects.toMatchObject({
      code: 'model-unavailable',
      message: expect.stringContaining(said),
    })
  })

  it('of another kind is refused', async () => {
    const { folder } = await modelsWith('tiny')
    await writeFile(join(folder, 'config.json'), JSON.stringify({ model_type: 'wav2vec2' }))
    await expect(openWhisper(folder)).rejects.toMatchObject({ code: 'model-unsupported' })
  })
})
