"""Writes test/fixtures/pillow-quantize.json: small pictures with few colours, as Pillow draws them. Needs numpy, Pillow."""

import base64
import json
import math

import numpy as np
import PIL
from PIL import Image

WIDTH, HEIGHT = 21, 13
FLOYD = Image.Dither.FLOYDSTEINBERG


def picture():
    """Values that the test computes in the same way."""
    y, x, c = np.mgrid[0:HEIGHT, 0:WIDTH, 0:3]
    return ((x * (11 + 5 * c) + y * (7 + 9 * c) + (x * y * (c + 1)) % 23) % 256).astype(np.uint8)


def pattern(power):
    if power == 0:
        return np.zeros((1, 1))
    m = pattern(power - 1) * 4**power
    return np.block([[m - 1.5, m + 0.5], [m + 1.5, m - 0.5]]) / 4**power


def drawn(image, colors, dither):
    palette = image.quantize(colors=colors)
    if dither == "none":
        return image.quantize(palette=palette, dither=Image.Dither.NONE)
    if dither == "floyd-steinberg":
        return image.quantize(palette=palette, dither=FLOYD)
    m = pattern(int(math.log2(int(dither[6:])))) * 2 * 256 / (len(palette.getpalette()) // 3) + 0.5
    tiled = np.tile(m, (HEIGHT, WIDTH))[:HEIGHT, :WIDTH, None]
    bytes_ = np.clip(np.asarray(image).astype(np.float32) + tiled.astype(np.float32), 0, 255).astype(np.uint8)
    return Image.fromarray(bytes_).quantize(palette=palette, dither=Image.Dither.NONE)


image = Image.fromarray(picture())
cases = [
    {"colors": colors, "dither": dither, "rgb": base64.b64encode(drawn(image, colors, dither).convert("RGB").tobytes()).decode()}
    for colors, dither in [
        (1, "none"),
        (5, "none"),
        (64, "none"),
        (4, "floyd-steinberg"),
        (31, "floyd-steinberg"),
        (8, "bayer-2"),
        (8, "bayer-4"),
        (3, "bayer-8"),
        (16, "bayer-16"),
    ]
]
with open("test/fixtures/pillow-quantize.json", "w") as file:
    json.dump({"pillow": PIL.__version__, "width": WIDTH, "height": HEIGHT, "cases": cases}, file, indent=1)
    file.write("\n")
