import { expect, it } from 'vitest'
import {
  at,
  checkpoint,
  decode,
  encode,
  promptOf,
  type Source,
  type Step,
  sample,
  step,
  textToImage,
} from '../support/workflow.ts'
import { workflowServer } from '../support/workflow-server.ts'

const { post, line } = workflowServer(/^(checkpoints\/(sd1|sdxl)$|(controlnet|loras)\/sdxl)/)

const sd = checkpoint('sd1.safetensors')
const sdxl = checkpoint('sdxl.safetensors')
const empty = (type: string, width: number | Source) => step(type, { width, height: 64, batch_size: 1 })
const controlled = () => {
  const [positive, negative] = [encode(sd.clip, 'a'), encode(sd.clip, '')]
  const control_net = step('ControlNetLoader', { control_net_name: 'sdxl.safetensors' })
  const inputs = { image: step('EmptyImage', { width: 64, height: 64, batch_size: 1, color: 0 }), control_net }
  const range = { strength: 1, start_percent: 0, end_percent: 1 }
  const made = step('ControlNetApplyAdvanced', { positive, negative, ...inputs, ...range })
  return textToImage(sd, { positive: at(made, 0), negative: at(made, 1) })
}

it.each<readonly [what: string, status: number, error: RegExp, image: Step]>([
  [
    'a text for another kind of model',
    500,
    /^Node \d+ \(KSampler\): unet takes context of N×T×32, not \d×77×96/,
    textToImage(sd, { positive: encode(sdxl.clip, 'a') }),
  ],
  [
    'a text without what SDXL needs',
    500,
    /^Node \d+ \(KSampler\): the model takes pooled vectors of 48 values, .* 32/,
    textToImage({ ...sdxl, clip: sd.clip }),
  ],
  [
    'a control network for another kind of model',
    500,
    /^Node \d+ \(KSampler\): the control network is made for another kind/,
    controlled(),
  ],
  [
    'two texts for one encoder',
    500,
    /^Node \d+ \(CLIPTextEncodeSDXL\): this text encoder takes one text/,
    textToImage(sd, {
      positive: step('CLIPTextEncodeSDXL', {
        clip: sd.clip,
        width: 64,
        height: 64,
        crop_w: 0,
        crop_h: 0,
        target_width: 64,
        target_height: 64,
        text_g: 'a',
        text_l: 'a',
      }),
    }),
  ],
  [
    'latents of another kind of autoencoder',
    500,
    /^Node \d+ \(VAEDecode\): vae_decoder takes latents of \S+, not 1×16×8×8/,
    decode(empty('EmptySD3LatentImage', 64), sd.vae),
  ],
  [
    'a size below nought over a wire',
    500,
    /^Node \d+ \(EmptyLatentImage\): a side cannot be negative: 1×4×8×-1/,
    textToImage(sd, { latents: empty('EmptyLatentImage', step('PrimitiveInt', { value: -5 })) }),
  ],
  [
    'a size that is too small',
    400,
    /^Node \d+ \(EmptyLatentImage, width\): Value 8 smaller than min of 16/,
    textToImage(sd, { latents: empty('EmptyLatentImage', 8) }),
  ],
  [
    'a model that is not there',
    400,
    /^Node \d+ \(CheckpointLoaderSimple, ckpt_name\): Value not in list: ckpt_name: 'no.safetensors' not in \['easel-demo/,
    textToImage(checkpoint('no.safetensors')),
  ],
  [
    'a wire to the wrong socket',
    400,
    /^Node \d+ \(VAEDecode, vae\): Return type mismatch .* received_type\(CLIP\) mismatch input_type\(VAE\)/,
    decode(sample(sd), sd.clip),
  ],
  [
    'a node that this server knows and does not offer',
    400,
    /^Node \d+ \(GITSScheduler\): .*does not offer GITSScheduler/,
    decode(step('GITSScheduler'), sd.vae),
  ],
])('says which node has %s', async (_what, status, error, image) => {
  const response = await post({ prompt: promptOf(step('SaveImage', { images: image, filename_prefix: 'x' })) })
  expect([response.status, ((await response.json()) as { readonly error: string }).error]).toEqual([
    status,
    expect.stringMatching(error),
  ])
})

it('draws without what a LoRA for another model has for layers of another size, and says so', async () => {
  const model = step('LoraLoaderModelOnly', { model: sd.model, lora_name: 'sdxl.safetensors', strength_model: 1 })
  const images = textToImage({ ...sd, model })
  const response = await post({ prompt: promptOf(step('SaveImage', { images, filename_prefix: 'x' })) })
  expect(response.status).toBe(200)
  expect(await line(/LoRA file changes layers/)).toContain('lora_unet_middle_block_1')
})
