/** A kind of model file or of model, and whether this server runs it. */
export interface ModelKind {
  readonly what: string
  readonly supported: boolean
  /** The folder under `models/`. */
  readonly folder?: string
  readonly note?: string
  /** The family in `src/workload/families` that it is. */
  readonly family?: string
  /** The test file that would fail if what is said here were not so. */
  readonly proof?: string
}

/** What a user may own, in the order in which a person asks; beside the code there is no list of what is not there. */
export const modelKinds: readonly { readonly title: string; readonly kinds: readonly ModelKind[] }[] = [
  {
    title: 'Models',
    kinds: [
      {
        what: 'Stable Diffusion 1.x, also its inpainting and InstructPix2Pix forms',
        supported: true,
        family: 'sd1',
        note: 'any width; distilled ones (LCM, Hyper, Lightning) load as it',
        proof: 'test/workload/families/families.test.ts',
      },
      {
        what: 'Stable Diffusion 2.x, also inpainting; SD-Turbo',
        supported: true,
        family: 'sd2',
        note: 'noise and v-prediction are told apart by the weights',
        proof: 'test/workload/families/families.test.ts',
      },
      {
        what: 'SDXL, also inpainting, Turbo, Lightning and reduced ones (SSD-1B, Vega)',
        supported: true,
        family: 'sdxl',
        note: 'v-prediction and EDM forms by their marks in the file; blocks are counted, not listed',
        proof: 'test/workload/families/families.test.ts',
      },
      {
        what: 'SDXL refiner',
        supported: true,
        family: 'sdxl-refiner',
        proof: 'test/workload/families/families.test.ts',
      },
      {
        what: 'SD 3.x, Flux, Chroma, AuraFlow, PixArt, HunyuanDiT, Lumina, HiDream, Qwen Image, Stable Cascade',
        supported: false,
      },
      { what: 'Video: SVD, AnimateDiff, Wan, Hunyuan Video, LTX, Mochi, Cosmos', supported: false },
      { what: 'Audio (Stable Audio, ACE-Step) and 3D (Hunyuan3D, Zero123)', supported: false },
    ],
  },
  {
    title: 'Files',
    kinds: [
      {
        what: '`.safetensors`, `.sft`: float32, float16, bfloat16',
        supported: true,
        proof: 'test/workload/weights/safetensors.test.ts',
      },
      {
        what: 'Folders of diffusers (`model_index.json`) with safetensors',
        supported: true,
        folder: 'diffusers',
        proof: 'test/workload/families/diffusers-folder.test.ts',
      },
      {
        what: 'Folders of diffusers or Optimum with ONNX networks',
        supported: true,
        folder: 'diffusers',
        note: 'weights inside a ready graph cannot be patched: no LoRA',
        proof: 'test/workload/families/onnx-folder.test.ts',
      },
      {
        what: '`.ckpt`, `.pt`, `.pth`, `.bin`, `.pkl`',
        supported: false,
        note: 'Python pickles may run code when read: convert them to safetensors once',
      },
      { what: '`.gguf` and 4-bit weights', supported: false },
      { what: 'TensorRT engines', supported: false },
    ],
  },
  {
    title: 'Parts and additions',
    kinds: [
      {
        what: 'Text encoders CLIP-L, OpenCLIP-H and OpenCLIP-G, in the layouts of transformers and OpenCLIP',
        supported: true,
        folder: 'text_encoders',
        proof: 'test/workload/families/text-encoders.test.ts',
      },
      { what: 'Text encoders T5, Llama, Gemma, Qwen', supported: false },
      {
        what: 'Textual-inversion embeddings in safetensors, single and for both encoders of SDXL',
        supported: true,
        folder: 'embeddings',
        proof: 'test/workload/families/embeddings.test.ts',
      },
      {
        what: 'KL autoencoders in the layouts of LDM and diffusers',
        supported: true,
        folder: 'vae',
        note: 'in tiles when there is no memory for the whole',
        proof: 'test/workload/families/vae.test.ts',
      },
      {
        what: 'Tiny autoencoders (TAESD, TAESDXL)',
        supported: true,
        folder: 'vae_approx',
        proof: 'test/workload/families/tiny-vae.test.ts',
      },
      {
        what: 'LoRA, LoCon, LoHa, LoKr, DoRA and full differences, named as kohya, diffusers or PEFT do',
        supported: true,
        folder: 'loras',
        proof: 'test/workload/families/lora.test.ts',
      },
      {
        what: 'ControlNet in the layouts of LDM and diffusers',
        supported: true,
        folder: 'controlnet',
        proof: 'test/workload/families/control-nets.test.ts',
      },
      {
        what: 'T2I adapters, for SD 1.x and SDXL',
        supported: true,
        folder: 'controlnet',
        proof: 'test/workload/families/control-nets.test.ts',
      },
      { what: 'Control-LoRA, ControlNet for other families', supported: false },
      { what: 'IP-Adapter, style models, GLIGEN, PhotoMaker, hypernetworks', supported: false },
      {
        what: 'Upscalers: ESRGAN, Real-ESRGAN (RRDB in all three layouts) and its compact form',
        supported: true,
        folder: 'upscale_models',
        proof: 'test/workload/families/upscalers.test.ts',
      },
      { what: 'Upscalers: SwinIR, HAT, DAT, OmniSR and others', supported: false },
    ],
  },
]
