"""Batches of (picture, latent) pairs for the decoder and the encoder: crops first, whole pictures later."""
import os

import numpy as np
import torch

from latents import to_float

HELD_OUT = 16                                  # pictures at the end of the pool that are never trained on


class Crops:
    """Random crops of the picture pool with the latents that belong to them."""

    def __init__(self, work, seed):
        self.pool = np.load(os.path.join(work, "pool.npy"), mmap_mode="r")
        self.latents = torch.load(os.path.join(work, "latents256.pt"))
        self.rng = np.random.default_rng(seed)

    def batch(self, whole):
        """Four 128 px crops, or one whole picture (GroupNorm sees other statistics on crops)."""
        count, side = (1, 32) if whole else (4, 16)
        pictures, latents = [], []
        for i in self.rng.integers(0, len(self.latents) - HELD_OUT, count):
            y, x = self.rng.integers(0, 33 - side, 2)
            pictures.append(self.pool[i, y * 8:(y + side) * 8, x * 8:(x + side) * 8])
            latents.append(self.latents[i, :, y:y + side, x:x + side].float())
        return to_float(np.stack(pictures)), torch.stack(latents)

    def held_out(self):
        """The pictures that are only looked at, with their latents."""
        return to_float(self.pool[-HELD_OUT:]), self.latents[-HELD_OUT:].float()


def psnr(a, b):
    """Mean peak signal-to-noise ratio in dB of pictures in [-1, 1]."""
    return (-10 * ((a.clamp(-1, 1) - b) / 2).pow(2).mean((1, 2, 3)).log10()).mean().item()
