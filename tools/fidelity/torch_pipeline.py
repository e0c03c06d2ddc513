"""Text to picture in torch, float32 on the CPU, as a KSampler graph computes it."""
import math
import os
import sys

import torch
from safetensors.torch import load_file

from torch_networks import Weights, decode, layer_norm, rename_open_clip, sinusoid, text_states, unet

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "demo-model"))
from tokens import END, START, Tokeniser  # noqa: E402

BETAS = torch.linspace(0.00085 ** 0.5, 0.012 ** 0.5, 1000, dtype=torch.float64) ** 2
ALPHA_BARS = torch.cumprod(1 - BETAS, 0)
SIGMAS = ((1 - ALPHA_BARS) / ALPHA_BARS).sqrt()
LOGS = SIGMAS.log().float()


class Pipeline:
    """A checkpoint of Stable Diffusion 1, 2 or XL (base)."""

    def __init__(self, path):
        tensors = load_file(path)
        half = lambda key: key.startswith(("cond_stage_model.", "conditioner."))  # text encoders are kept in half precision
        floats = {k: (v.half() if half(k) else v).float() for k, v in tensors.items() if v.is_floating_point()}
        whole = Weights(floats)
        self.unet, self.vae = whole.at("model.diffusion_model"), whole.at("first_stage_model")
        self.xl = self.unet.has("label_emb")
        two = whole.has("cond_stage_model.model")
        self.heads = (lambda c: max(1, c // 64)) if self.xl or two else (lambda c: 8)
        self.scale = 0.13025 if self.xl else 0.18215
        self.velocity = False
        self.tokeniser = Tokeniser()
        if self.xl:
            self.l = whole.at("conditioner.embedders.0.transformer.text_model")
            self.g = rename_open_clip(whole.at("conditioner.embedders.1.model"))
        elif two:
            self.h = rename_open_clip(whole.at("cond_stage_model.model"))
        else:
            self.l = whole.at("cond_stage_model.transformer.text_model")
        self.two = two

    def _tokens(self, text, pad):
        ids = [START] + self.tokeniser.encode(text)[:75] + [END]
        return torch.tensor([ids + [pad] * (77 - len(ids))]), torch.tensor([len(ids) - 1])

    def encode(self, text, width, height):
        """Context, and the vector beside the timestep for XL."""
        if self.xl:
            states, _ = text_states(self.l, *self._tokens(text, END), quick=True)
            bigger, pooled = text_states(self.g, *self._tokens(text, 0), quick=False)
            sizes = torch.tensor([height, width, 0, 0, height, width])
            y = torch.cat([pooled, sinusoid(sizes, 256).flatten()[None]], -1)
            return torch.cat([states[-2], bigger[-2]], -1), y
        if self.two:
            states, _ = text_states(self.h, *self._tokens(text, 0), quick=False)
            return layer_norm(self.h.at("final_layer_norm"), states[-2]), None
        states, _ = text_states(self.l, *self._tokens(text, END), quick=True)
        return layer_norm(self.l.at("final_layer_norm"), states[-1]), None

    def denoise(self, x, sigma, texts, cfg):
        """The guess at the clean latents under guidance."""
        (positive, y1), (negative, y0) = texts
        t = (math.log(sigma) - LOGS).abs().argmin().expand(2)
        both = (x / math.sqrt(sigma ** 2 + 1)).expand(2, -1, -1, -1)
        y = None if y0 is None else torch.cat([y0, y1])
        e0, e1 = unet(self.unet, both, t, torch.cat([negative, positive]), y, self.heads).split(1)
        e = e0 + (e1 - e0) * cfg
        if self.velocity:
            return x / (sigma ** 2 + 1) - e * sigma / math.sqrt(sigma ** 2 + 1)
        return x - sigma * e

    @torch.no_grad()
    def draw(self, prompt, negative, seed, steps, cfg, sampler, scheduler, width, height):
        """A picture as uint8 (H, W, 3), cut down to 8 bits as pictures are saved."""
        texts = self.encode(prompt, width, height), self.encode(negative, width, height)
        sigmas = SCHEDULES[scheduler](steps)
        shape = (1, 4, height // 8, width // 8)
        x = torch.randn(shape, generator=torch.Generator().manual_seed(seed)) * math.sqrt(1 + sigmas[0] ** 2)
        fresh = torch.Generator().manual_seed(seed + 1)
        noise = lambda: torch.randn(shape, generator=fresh)
        x = SAMPLERS[sampler](x, sigmas, lambda v, s: self.denoise(v, s, texts, cfg), noise)
        pixels = (decode(self.vae, x / self.scale) + 1) / 2
        return (pixels.clamp(0, 1) * 255).byte()[0].permute(1, 2, 0).numpy()


def normal(steps):
    """Timesteps evenly spaced from the last to the first."""
    ts = torch.linspace(999, 0, steps)
    low, part = ts.floor().long(), ts.frac()
    logs = LOGS[low] * (1 - part) + LOGS[ts.ceil().long()] * part
    return [*logs.exp().tolist(), 0.0]


def karras(steps, rho=7.0):
    """Karras et al. (2022), eq. 5."""
    low, high = SIGMAS[0].item() ** (1 / rho), SIGMAS[-1].item() ** (1 / rho)
    return [*((high + torch.linspace(0, 1, steps) * (low - high)) ** rho).tolist(), 0.0]


def euler(x, sigmas, denoise, _noise):
    """Euler's method."""
    for sigma, after in zip(sigmas, sigmas[1:]):
        x = x + (x - denoise(x, sigma)) / sigma * (after - sigma)
    return x


def euler_ancestral(x, sigmas, denoise, noise):
    """Euler's method with noise taken out and put back."""
    for sigma, after in zip(sigmas, sigmas[1:]):
        clean = denoise(x, sigma)
        up = min(after, math.sqrt(after ** 2 * (sigma ** 2 - after ** 2) / sigma ** 2))
        down = math.sqrt(after ** 2 - up ** 2)
        x = clean if after == 0 else x + (x - clean) / sigma * (down - sigma) + noise() * up
    return x


def dpmpp_2m(x, sigmas, denoise, _noise):
    """DPM-Solver++ (2M), Lu et al. (2022)."""
    before, length = None, None
    for sigma, after in zip(sigmas, sigmas[1:]):
        clean = denoise(x, sigma)
        if after == 0:
            return clean
        h = math.log(sigma / after)
        guess = clean if before is None else clean + (clean - before) * h / (2 * length)
        x = after / sigma * x - math.expm1(-h) * guess
        before, length = clean, h
    return x


SCHEDULES = {"normal": normal, "karras": karras}
SAMPLERS = {"euler": euler, "euler_ancestral": euler_ancestral, "dpmpp_2m": dpmpp_2m}
