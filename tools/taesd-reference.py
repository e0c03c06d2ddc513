"""Writes test/fixtures/taesd.json: what PyTorch makes of a narrow TAESD autoencoder.

Weights and inputs follow from names by the rule of test/fixtures/goldens/README.md, convolutions shrunk by GAIN, so the
fixture holds only shapes and results. Run: python3 tools/taesd-reference.py > test/fixtures/taesd.json
"""

import json
import math
import zlib

import torch
import torch.nn.functional as F

WIDTH = 8
LATENTS = 4

# What convolutions' weights are shrunk by: residual blocks without norms would grow without bounds.
GAIN = 0.4


def phase(name):
    return (zlib.crc32(name.encode()) % 6283) / 1000


def weight(name, shape):
    count = math.prod(shape)
    s = torch.sin(0.7 * torch.arange(count, dtype=torch.float64) + phase(name))
    if len(shape) > 1:
        s = GAIN * s * math.sqrt(2 / math.prod(shape[1:]))
    else:
        s = 1 + 0.1 * s if name.endswith(".weight") else 0.05 * s
    return s.float().reshape(shape)


def value(name, shape):
    i = torch.arange(math.prod(shape), dtype=torch.float64)
    return (1.2 * torch.sin(0.37 * i + phase(name))).float().reshape(shape)


class Half:
    """The weights of one half, which are made as they are first used."""

    def __init__(self):
        self.shapes = {}

    def tensor(self, name, shape):
        self.shapes[name] = shape
        return weight(name, shape)

    def conv(self, x, name, to, side=3, stride=1, bias=True):
        kernel = self.tensor(f"{name}.weight", [to, x.shape[1], side, side])
        shift = self.tensor(f"{name}.bias", [to]) if bias else None
        return F.conv2d(x, kernel, shift, stride=stride, padding=side // 2)

    def block(self, x, name, to=WIDTH):
        h = F.relu(self.conv(x, f"{name}.conv.0", to))
        h = F.relu(self.conv(h, f"{name}.conv.2", to))
        h = self.conv(h, f"{name}.conv.4", to)
        skip = x if x.shape[1] == to else self.conv(x, f"{name}.skip", to, side=1, bias=False)
        return F.relu(h + skip)


def encode(half, x):
    h = half.block(half.conv(x, "0", WIDTH), "1")
    for first in (2, 6, 10):
        h = half.conv(h, str(first), WIDTH, stride=2, bias=False)
        for i in (1, 2, 3):
            h = half.block(h, str(first + i))
    return half.conv(h, "14", LATENTS)


def decode(half, z):
    h = F.relu(half.conv(torch.tanh(z / 3) * 3, "1", WIDTH))
    for first in (3, 8, 13):
        for i in (0, 1, 2):
            # One block of another width, so that a shortcut with weights is among them.
            h = half.block(h, str(first + i), to=WIDTH * 2 if (first, i) == (8, 1) else WIDTH)
        h = F.interpolate(h, scale_factor=2, mode="nearest")
        h = half.conv(h, str(first + 4), WIDTH, bias=False)
    return half.conv(half.block(h, "18"), "19", 3)


def summary(t):
    flat = t.flatten()
    return {
        "shape": list(t.shape),
        "first32": flat[:32].tolist(),
        "last8": flat[-8:].tolist(),
        "std": t.std().item(),
    }


encoder, decoder = Half(), Half()
fixture = {
    "encode": summary(encode(encoder, value("px", [1, 3, 32, 24]))),
    "decode": summary(decode(decoder, value("z", [1, LATENTS, 4, 3]))),
    "encoder": encoder.shapes,
    "decoder": decoder.shapes,
}
print(json.dumps(fixture))
