/** Nodes that ComfyUI has and this server has not, for one reason. */
export interface NotOffered {
  /** What they have in common. */
  readonly kind: string
  /** Ends the sentence "This server does not offer it: …". */
  readonly reason: string
  readonly types: readonly string[]
}

/** Which of ComfyUI's nodes are not here, and why; what a client is told and what the documentation lists. */
export const notOffered: readonly NotOffered[] = [
  {
    kind: 'Other model families',
    reason: 'it belongs to a model family that this server does not run',
    types: [
      'ChromaRadianceOptions',
      'CLIPTextEncodeControlnet',
      'CLIPTextEncodeFlux',
      'CLIPTextEncodeHiDream',
      'CLIPTextEncodeHunyuanDiT',
      'CLIPTextEncodeLumina2',
      'CLIPTextEncodePixArtAlpha',
      'CLIPTextEncodeSD3',
      'ControlNetApplySD3',
      'ControlNetInpaintingAliMamaApply',
      'EmptyChromaRadianceLatentImage',
      'EmptyHunyuanImageLatent',
      'FluxDisableGuidance',
      'FluxGuidance',
      'FluxKontextImageScale',
      'FluxKontextMultiReferenceLatentMethod',
      'HunyuanRefinerLatent',
      'ModelMergeAuraflow',
      'ModelMergeCosmosPredict2_14B',
      'ModelMergeCosmosPredict2_2B',
      'ModelMergeFlux1',
      'ModelMergeQwenImage',
      'ModelMergeSD35_Large',
      'ModelMergeSD3_2B',
      'ModelPatchLoader',
      'QuadrupleCLIPLoader',
      'QwenImageDiffsynthControlnet',
      'ReferenceLatent',
      'SD_4XUpscale_Conditioning',
      'SkipLayerGuidanceDiT',
      'SkipLayerGuidanceDiTSimple',
      'SkipLayerGuidanceSD3',
      'StableCascade_EmptyLatentImage',
      'StableCascade_StageB_Conditioning',
      'StableCascade_StageC_VAEEncode',
      'StableCascade_SuperResolutionControlnet',
      'T5TokenizerOptions',
      'TextEncodeQwenImageEdit',
      'TextEncodeQwenImageEditPlus',
      'TripleCLIPLoader',
      'USOStyleReference',
    ],
  },
  {
    kind: 'Video models',
    reason: 'it is for models that make video',
    types: ['ImageOnlyCheckpointLoader', 'SVD_img2vid_Conditioning'],
  },
  {
    kind: 'Pictures as prompts',
    reason: 'it needs an image encoder or style network, which this server does not run',
    types: [
      'CLIPVisionEncode',
      'CLIPVisionLoader',
      'GLIGENLoader',
      'GLIGENTextBoxApply',
      'PhotoMakerEncode',
      'PhotoMakerLoader',
      'StyleModelApply',
      'StyleModelLoader',
      'unCLIPCheckpointLoader',
      'unCLIPConditioning',
    ],
  },
  {
    kind: 'Hooks',
    reason: 'weights that change while sampling (hooks) are not supported',
    types: [
      'CombineHooks2',
      'CombineHooks4',
      'CombineHooks8',
      'ConditioningSetDefaultCombine',
      'ConditioningSetProperties',
      'ConditioningSetPropertiesAndCombine',
      'ConditioningTimestepsRange',
      'CreateHookKeyframe',
      'CreateHookKeyframesFromFloats',
      'CreateHookKeyframesInterpolated',
      'CreateHookLora',
      'CreateHookLoraModelOnly',
      'CreateHookModelAsLora',
      'CreateHookModelAsLoraModelOnly',
      'PairConditioningCombine',
      'PairConditioningSetDefaultCombine',
      'PairConditioningSetProperties',
      'PairConditioningSetPropertiesAndCombine',
      'SetClipHooks',
      'SetHookKeyframes',
    ],
  },
  {
    kind: 'Numbers we do not have',
    reason: 'it carries numbers of its authors that this server has no free source for',
    types: ['GITSScheduler', 'LotusConditioning', 'OptimalStepsScheduler'],
  },
  {
    kind: 'Guidance by a second, altered pass',
    reason: 'it runs the network once more with other attention, which guidance here cannot ask for yet',
    types: ['PerturbedAttentionGuidance', 'SelfAttentionGuidance'],
  },
  {
    kind: 'Writing models',
    reason: 'this server reads models and writes none',
    types: ['CheckpointSave', 'CLIPSave', 'LoraSave', 'ModelSave', 'VAESave'],
  },
  {
    kind: 'Latents in files',
    reason: 'only pictures enter and leave this server as files',
    types: ['LoadLatent', 'SaveLatent'],
  },
  {
    kind: 'Tuning and testing PyTorch',
    reason: 'it adjusts how PyTorch computes, and here ONNX Runtime does',
    types: ['EasyCache', 'LazyCache', 'ModelComputeDtype', 'TorchCompileModel'],
  },
  {
    kind: "The editor's own",
    reason: 'it belongs to an editor beside the server, which is not here',
    types: ['SaveSVGNode', 'WebcamCapture'],
  },
  {
    kind: 'Old or unsteady',
    reason: 'it reads formats that are out of use, or its results depend on chance',
    types: ['CheckpointLoader', 'HypernetworkLoader', 'TomePatchModel'],
  },
]

/** Class type → why it is not here. */
export const absentTypes: ReadonlyMap<string, string> = new Map(
  notOffered.flatMap(({ reason, types }) => types.map((type) => [type, reason] as const)),
)
