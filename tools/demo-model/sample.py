"""Draw prompts with a checkpoint: DPM++ 2M in torch, and a captioned contact sheet."""
import argparse
import math
import textwrap

import numpy as np
import torch
from PIL import Image, ImageDraw

from export import DEFAULT_OUT
from latents import SCALE
from networks import TEXT_SIZE, UNET_SIZE, VAE, VAE_SIZE, Text, UNet
from tokens import MERGES, TABLE, Tokeniser
from train_unet import alphas
from weights import load_parts

PROMPTS = [
    "a red house with a blue roof on a green meadow under a blue sky, mountains",
    "a boat with a red sail on the sea at sunset, the sun",
    "a yellow hot air balloon over snowy mountains during the day",
    "a cactus in the desert at sunset",
    "a white house with a red roof in the snow at night, stars",
    "a boat with a white sail on the ocean at night, a full moon",
    "a pyramid in a sandy desert under a blue sky, the sun",
    "a penguin in the snow during the day, mountains",
    "an autumn tree on a green meadow at dawn, the sun",
    "a pine tree in the snow at night, a crescent moon",
    "a purple hot air balloon over the sea at sunrise",
    "a yellow house with a green roof and a tree on a grassy field at sunset",
    "a blue boat",
    "two trees in a meadow under a blue sky, clouds",
    "a cactus and a pyramid in the desert at night, stars",
    "snowy mountains at sunset",
]


class Sampler:
    """A checkpoint, read back from its fp16 file."""

    def __init__(self, path=DEFAULT_OUT, merges=MERGES):
        parts = load_parts(path)
        self.unet = UNet(**UNET_SIZE).to(memory_format=torch.channels_last)
        self.text, self.vae = Text(TABLE, **TEXT_SIZE), VAE(**VAE_SIZE)
        for net, part in ((self.unet, "unet"), (self.text, "text"), (self.vae, "vae")):
            net.load_state_dict(parts[part])
        self.tokeniser = Tokeniser(merges)
        ab = alphas().double()
        self.sigma = ((1 - ab) / ab).sqrt().numpy()

    def denoise(self, x, s, t, context, guidance):
        """The clean latent that the model expects, with classifier-free guidance."""
        n = len(x)
        both = (x / math.sqrt(1 + s * s)).repeat(2, 1, 1, 1).contiguous(memory_format=torch.channels_last)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            e = self.unet(both, torch.full((2 * n,), float(t)), context).float()
        return x - s * (e[n:] + guidance * (e[:n] - e[n:]))

    def latents(self, prompts, guidance, steps, seeds, pixels):
        """DPM-Solver++ (2M) from pure noise; one seed per picture."""
        n = len(prompts)
        ids = torch.tensor([self.tokeniser.padded(p) for p in prompts + [""]])
        c = self.text(ids)
        context = torch.cat([c[:n], c[n:].expand(n, -1, -1)])
        times = np.linspace(999, 0, steps)
        sigmas = np.append(np.interp(times, np.arange(1000), self.sigma), 0.0)
        noise = torch.cat([torch.randn(1, 4, pixels // 8, pixels // 8, generator=torch.Generator().manual_seed(s)) for s in seeds])
        x, before = noise * math.sqrt(1 + sigmas[0] ** 2), None
        for i, t in enumerate(times):
            s, following = sigmas[i], sigmas[i + 1]
            clean = self.denoise(x, s, t, context, guidance)
            if following == 0:
                return clean
            h, direction = math.log(s / following), clean
            if before is not None:
                direction = clean + (clean - before) * h / (2 * math.log(sigmas[i - 1] / s))
            x, before = (following / s) * x - (math.exp(-h) - 1) * direction, clean

    @torch.no_grad()
    def draw(self, prompts, guidance, steps, seeds, pixels=256):
        """Pictures as a uint8 array (N, H, W, 3)."""
        z = self.latents(prompts, guidance, steps, seeds, pixels)
        pictures = torch.cat([self.vae.decode(v[None] / SCALE) for v in z])
        return ((pictures.clamp(-1, 1) + 1) * 127.5).round().byte().permute(0, 2, 3, 1).numpy()


def contact_sheet(pictures, captions, columns=4):
    """Pictures in a grid with two or three lines of caption under each."""
    px, rows = pictures.shape[1], -(-len(pictures) // columns)
    sheet = Image.new("RGB", (columns * px, rows * (px + 40)), (255, 255, 255))
    pen = ImageDraw.Draw(sheet)
    for i, (picture, words) in enumerate(zip(pictures, captions)):
        x, y = i % columns * px, i // columns * (px + 40)
        sheet.paste(Image.fromarray(picture), (x, y))
        for k, line in enumerate(textwrap.wrap(words, px // 6)[:3]):
            pen.text((x + 3, y + px + 1 + 12 * k), line, fill=(0, 0, 0))
    return sheet


def main():
    """Draw the sheet, or the prompts given on the command line."""
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("prompts", nargs="*")
    ap.add_argument("--checkpoint", default=DEFAULT_OUT)
    ap.add_argument("--out", default="sheet.png")
    ap.add_argument("--guidance", type=float, default=4.5)
    ap.add_argument("--steps", type=int, default=25)
    ap.add_argument("--seed", type=int, default=7, help="the same for every picture")
    ap.add_argument("--pixels", type=int, default=256)
    ap.add_argument("--shown", type=int, help="reduce each picture to this width on the sheet")
    ap.add_argument("--merges", default=MERGES)
    args = ap.parse_args()
    prompts = args.prompts or PROMPTS
    sampler = Sampler(args.checkpoint, args.merges)
    pictures = sampler.draw(prompts, args.guidance, args.steps, [args.seed] * len(prompts), args.pixels)
    if args.shown:
        pictures = np.stack([Image.fromarray(p).resize((args.shown, args.shown), Image.LANCZOS) for p in pictures])
    contact_sheet(pictures, prompts).save(args.out, optimize=True)


if __name__ == "__main__":
    main()
