"""Writes test/fixtures/reference-networks.json: what PyTorch makes of tiny adapters and enlarging networks.

Weights and inputs follow from names by the rule of test/fixtures/goldens/README.md, so the fixture holds only shapes
and results. Run: python3 tools/reference-networks.py > test/fixtures/reference-networks.json
"""

import json
import zlib

import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)


def phase(name):
    return (zlib.crc32(name.encode()) % 6283) / 1000


def weight(name, shape):
    size = torch.Size(shape).numel()
    s = torch.sin(0.7 * torch.arange(size) + phase(name)).reshape(shape)
    if len(shape) > 1:
        return (s * (2 / (size / shape[0])) ** 0.5).float().double()
    return (1 + 0.1 * s if name.endswith(".weight") else 0.05 * s).float().double()


def source(name, shape, scale=1.0):
    size = torch.Size(shape).numel()
    return (scale * 1.2 * torch.sin(0.37 * torch.arange(size) + phase(name))).float().double().reshape(shape)


class Net:
    """Makes weights as they are asked for and remembers their shapes."""

    def __init__(self):
        self.keys = {}

    def take(self, name, *shape):
        self.keys[name] = list(shape)
        return weight(name, shape)

    def conv(self, x, name, out, kernel=3, stride=1):
        w = self.take(f"{name}.weight", out, x.shape[1], kernel, kernel)
        return F.conv2d(x, w, self.take(f"{name}.bias", out), stride, kernel // 2)


def summary(x):
    flat = x.flatten().tolist()
    return {"shape": list(x.shape), "first32": flat[:32], "last8": flat[-8:], "std": x.std().item()}


def pool(x):
    return F.avg_pool2d(x, 2, 2, padding=(x.shape[2] % 2, x.shape[3] % 2))


def residual(net, x, key, kernel=3):
    h = net.conv(F.relu(net.conv(x, f"{key}.block1", x.shape[1])), f"{key}.block2", x.shape[1], kernel)
    return x + h


def full_adapter(cell, hint_channels, learned, kernel, height, width):
    net = Net()
    hint = source("hint", (1, 3, height, width), 0.5) + 0.5
    x = hint.mean(1, keepdim=True) if hint_channels == 1 else hint
    x = net.conv(F.pixel_unshuffle(x, cell), "conv_in", 4)
    results = []
    for level, channels in enumerate([4, 8, 16, 16]):
        first = f"body.{2 * level}"
        if level == 2 or (cell == 8 and level > 0):
            x = net.conv(x, f"{first}.down_opt.op", x.shape[1], 3, 2) if learned else pool(x)
        if x.shape[1] != channels:
            x = net.conv(x, f"{first}.in_conv", channels, kernel)
        x = residual(net, x, first, kernel)
        x = residual(net, x, f"body.{2 * level + 1}", kernel)
        results.append(summary(x))
    return {"keys": net.keys, "hint": [height, width], "results": results}


def light_adapter(height, width):
    net = Net()
    x = F.pixel_unshuffle(source("hint", (1, 3, height, width), 0.5) + 0.5, 8)
    results = []
    for level, channels in enumerate([4, 8, 16, 16]):
        if level > 0:
            x = pool(x)
        x = net.conv(x, f"body.{level}.in_conv", channels // 4, 1)
        for i in range(4):
            x = residual(net, x, f"body.{level}.body.{i}")
        x = net.conv(x, f"body.{level}.out_conv", channels, 1)
        results.append(summary(x))
    return {"keys": net.keys, "hint": [height, width], "results": results}


def leaky(x):
    return F.leaky_relu(x, 0.2)


def dense_block(net, x, key, growth, suffix, plus):
    seen = [x]
    for i in range(1, 5):
        h = leaky(net.conv(torch.cat(seen, 1), f"{key}.conv{i}{suffix}", growth))
        if plus and i == 2:
            w = net.take(f"{key}.conv1x1.weight", growth, x.shape[1], 1, 1)
            h = h + F.conv2d(x, w)
        if plus and i == 4:
            h = h + seen[2]
        seen.append(h)
    return x + 0.2 * net.conv(torch.cat(seen, 1), f"{key}.conv5{suffix}", x.shape[1])


def esrgan(layout, blocks, steps, unshuffle=1, plus=False, height=9, width=7):
    net = Net()
    suffix = ".0" if layout == "old" else ""
    name = {
        "old": lambda b, r: f"model.1.sub.{b}.RDB{r}",
        "new": lambda b, r: f"RRDB_trunk.{b}.RDB{r}",
        "real": lambda b, r: f"body.{b}.rdb{r}",
    }[layout]
    first = "model.0" if layout == "old" else "conv_first"
    trunk = {"old": f"model.1.sub.{blocks}", "new": "trunk_conv", "real": "conv_body"}[layout]
    up = {"old": lambda i: f"model.{3 * i}", "new": lambda i: f"upconv{i}", "real": lambda i: f"conv_up{i}"}[layout]
    high = {"old": f"model.{3 * steps + 2}", "new": "HRconv", "real": "conv_hr"}[layout]
    last = {"old": f"model.{3 * steps + 4}", "new": "conv_last", "real": "conv_last"}[layout]

    picture = source("picture", (1, 3, height, width), 0.4) + 0.5
    x = picture
    if unshuffle > 1:
        x = F.pad(x, (0, -width % unshuffle, 0, -height % unshuffle), "reflect")
        x = F.pixel_unshuffle(x, unshuffle)
    features = net.conv(x, first, 8)
    h = features
    for b in range(blocks):
        g = h
        for r in range(1, 4):
            g = dense_block(net, g, name(b, r), 4, suffix, plus)
        h = h + 0.2 * g
    h = features + net.conv(h, trunk, 8)
    for i in range(1, steps + 1):
        h = leaky(net.conv(F.interpolate(h, scale_factor=2, mode="nearest"), up(i), 8))
    h = net.conv(leaky(net.conv(h, high, 8)), last, 3)
    scale = 2**steps // unshuffle
    h = h[:, :, : height * scale, : width * scale]
    return {"keys": net.keys, "picture": [height, width], "scale": scale, "result": summary(h)}


def compact(convolutions, scale, height=6, width=5):
    net = Net()
    picture = source("picture", (1, 3, height, width), 0.4) + 0.5
    h = picture
    for i in range(convolutions + 1):
        h = net.conv(h, f"body.{2 * i}", 8)
        h = F.prelu(h, net.take(f"body.{2 * i + 1}.weight", 8))
    h = net.conv(h, f"body.{2 * convolutions + 2}", 3 * scale * scale)
    h = F.pixel_shuffle(h, scale) + F.interpolate(picture, scale_factor=scale, mode="nearest")
    return {"keys": net.keys, "picture": [height, width], "scale": scale, "result": summary(h)}


def union(kinds, kind, width=8, embedding=12):
    """What a union control network makes of its hint's features, and adds to the embedding of the timestep."""
    net = Net()

    def linear(x, name, out):
        return F.linear(x, net.take(f"{name}.weight", out, x.shape[-1]), net.take(f"{name}.bias", out))

    def norm(x, name):
        return F.layer_norm(x, (width,), net.take(f"{name}.weight", width), net.take(f"{name}.bias", width))

    features = source("features", (2, width, 3, 5))
    token = features.mean((2, 3)) + net.take("task_embedding", kinds, width)[kind]
    x = token.unsqueeze(1)
    q, k, v = linear(norm(x, "transformer_layes.0.ln_1"), "transformer_layes.0.attn.in_proj", 3 * width).chunk(3, -1)
    heads = [part.reshape(2, 1, 4, width // 4).transpose(1, 2) for part in (q, k, v)]
    attended = F.scaled_dot_product_attention(*heads).transpose(1, 2).reshape(2, 1, width)
    x = x + linear(attended, "transformer_layes.0.attn.out_proj", width)
    inner = linear(norm(x, "transformer_layes.0.ln_2"), "transformer_layes.0.mlp.c_fc", 4 * width)
    x = x + linear(inner * torch.sigmoid(1.702 * inner), "transformer_layes.0.mlp.c_proj", width)
    alpha = linear(x[:, 0], "spatial_ch_projs", width)
    fused = features + alpha[:, :, None, None]

    chosen = torch.zeros(kinds)
    chosen[kind] = 1
    frequencies = torch.exp(-torch.log(torch.tensor(10000.0)) * torch.arange(128) / 128)
    angles = chosen[:, None] * frequencies
    waves = torch.cat([angles.cos(), angles.sin()], 1).reshape(1, -1)
    added = linear(F.silu(linear(waves, "control_add_embedding.linear_1", embedding)), "control_add_embedding.linear_2", embedding)
    return {"keys": net.keys, "kind": kind, "fused": summary(fused), "added": summary(added)}


def rounded(value):
    if isinstance(value, float):
        return float(f"{value:.9g}")
    if isinstance(value, list):
        return [rounded(each) for each in value]
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    return value


print(
    json.dumps(
        rounded(
            {
                "adapters": {
                    "full": full_adapter(8, 3, False, 1, 128, 104),
                    "sketch": full_adapter(8, 1, True, 3, 64, 64),
                    "sdxl": full_adapter(16, 3, False, 1, 128, 208),
                    "light": light_adapter(128, 72),
                },
                "union": union(3, 1),
                "upscalers": {
                    "old": esrgan("old", 2, 2),
                    "plus": esrgan("old", 1, 1, plus=True),
                    "unchanged size": esrgan("old", 1, 0),
                    "new": esrgan("new", 1, 2),
                    "real": esrgan("real", 2, 2),
                    "real x2": esrgan("real", 1, 2, unshuffle=2),
                    "real x1": esrgan("real", 1, 2, unshuffle=4),
                    "compact": compact(2, 4),
                    "compact x2": compact(1, 2),
                },
            }
        )
    )
)
