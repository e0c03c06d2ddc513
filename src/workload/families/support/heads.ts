/** Attention heads of 64 channels, as all but the first Stable Diffusion have them; one head in a block that is narrower. */
export const headsOfWidth64 = (channels: number): number => Math.max(1, Math.floor(channels / 64))
