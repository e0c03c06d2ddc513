"""The networks of Stable Diffusion as plain torch functions over a state dict, in float32.

Written apart from the server, from the papers and the names in the files, so that the two can be compared.
"""
import math

import torch
import torch.nn.functional as F


class Weights:
    """The tensors of a file whose names begin with a prefix, without it; `at` goes deeper."""

    def __init__(self, tensors, prefix=""):
        self.tensors, self.prefix = tensors, prefix

    def at(self, name):
        """The tensors below `name`."""
        return Weights(self.tensors, f"{self.prefix}{name}.")

    def has(self, name):
        """Whether any tensor lies at or below `name`."""
        whole = self.prefix + name
        return whole in self.tensors or any(key.startswith(whole + ".") for key in self.tensors)

    def get(self, name):
        """One tensor, or None."""
        return self.tensors.get(self.prefix + name)

    def count(self):
        """How many of 0, 1, 2 … there are below."""
        n = 0
        while self.has(str(n)):
            n += 1
        return n


def linear(w, x):
    """x · Wᵀ + b."""
    return F.linear(x, w.get("weight"), w.get("bias"))


def conv(w, x, **options):
    """A convolution that keeps the size unless told otherwise."""
    weight = w.get("weight")
    options.setdefault("padding", weight.shape[-1] // 2)
    return F.conv2d(x, weight, w.get("bias"), **options)


def group_norm(w, x, eps):
    """Group normalisation with 32 groups."""
    return F.group_norm(x, 32, w.get("weight"), w.get("bias"), eps)


def layer_norm(w, x):
    """Layer normalisation over the last axis."""
    return F.layer_norm(x, x.shape[-1:], w.get("weight"), w.get("bias"), 1e-5)


def attend(q, k, v, heads, causal=False):
    """Scaled dot-product attention, (batch, tokens, width)."""
    q, k, v = (t.unflatten(-1, (heads, -1)).transpose(1, 2) for t in (q, k, v))
    return F.scaled_dot_product_attention(q, k, v, is_causal=causal).transpose(1, 2).flatten(2)


def sinusoid(t, width):
    """Cosines, then sines, of t at frequencies falling from 1 to 1/10000."""
    half = width // 2
    angles = t.float()[:, None] * torch.exp(-math.log(10000) * torch.arange(half) / half)[None]
    return torch.cat([angles.cos(), angles.sin()], -1)


# The UNet (Rombach et al. 2022).

def unet(w, x, t, context, y, heads_of):
    """The raw output for noisy latents x at timesteps t; y is the vector beside the timestep, or None."""
    mlp = lambda part, v: linear(part.at("2"), F.silu(linear(part.at("0"), v)))
    width = w.get("input_blocks.0.0.weight").shape[0]
    emb = mlp(w.at("time_embed"), sinusoid(t, width))
    if y is not None:
        emb = emb + mlp(w.at("label_emb.0"), y)

    def block(part, h, like=None):
        for i in range(part.count()):
            p = part.at(str(i))
            if p.has("in_layers"):
                h = res_block(p, h, emb)
            elif p.has("transformer_blocks"):
                h = transformer(p, h, context, heads_of)
            elif p.has("op"):
                h = conv(p.at("op"), h, stride=2)
            elif p.has("conv"):
                h = conv(p.at("conv"), F.interpolate(h, size=like.shape[2:], mode="nearest"))
            else:
                h = conv(p, h)
        return h

    skips, h = [], x
    for i in range(w.at("input_blocks").count()):
        h = block(w.at(f"input_blocks.{i}"), h)
        skips.append(h)
    h = block(w.at("middle_block"), h)
    for i in range(w.at("output_blocks").count()):
        h = torch.cat([h, skips.pop()], 1)
        h = block(w.at(f"output_blocks.{i}"), h, skips[-1] if skips else None)
    return conv(w.at("out.2"), F.silu(group_norm(w.at("out.0"), h, 1e-5)))


def res_block(w, x, emb):
    """Two convolutions with the timestep between them, around a shortcut."""
    h = conv(w.at("in_layers.2"), F.silu(group_norm(w.at("in_layers.0"), x, 1e-5)))
    h = h + linear(w.at("emb_layers.1"), F.silu(emb))[:, :, None, None]
    h = conv(w.at("out_layers.3"), F.silu(group_norm(w.at("out_layers.0"), h, 1e-5)))
    return h + (conv(w.at("skip_connection"), x) if w.has("skip_connection") else x)


def transformer(w, x, context, heads_of):
    """Transformer blocks over the pixels, attending to the text."""
    n, c, height, width = x.shape
    h, flat = group_norm(w.at("norm"), x, 1e-6), w.get("proj_in.weight").dim() == 2
    tokens = lambda v: v.flatten(2).transpose(1, 2)
    pixels = lambda v: v.transpose(1, 2).unflatten(2, (height, width))
    h = linear(w.at("proj_in"), tokens(h)) if flat else tokens(conv(w.at("proj_in"), h))
    heads = heads_of(h.shape[-1])
    for i in range(w.at("transformer_blocks").count()):
        b = w.at(f"transformer_blocks.{i}")

        def attention(part, q, kv):
            out = attend(linear(part.at("to_q"), q), linear(part.at("to_k"), kv), linear(part.at("to_v"), kv), heads)
            return linear(part.at("to_out.0"), out)

        q = layer_norm(b.at("norm1"), h)
        h = h + attention(b.at("attn1"), q, q)
        h = h + attention(b.at("attn2"), layer_norm(b.at("norm2"), h), context)
        value, gate = linear(b.at("ff.net.0.proj"), layer_norm(b.at("norm3"), h)).chunk(2, -1)
        h = h + linear(b.at("ff.net.2"), value * F.gelu(gate))
    return x + (pixels(linear(w.at("proj_out"), h)) if flat else conv(w.at("proj_out"), pixels(h)))


# The decoder of the autoencoder.

def decode(w, z):
    """Latents in the autoencoder's scale to pixels in [-1, 1]."""
    res = lambda p, x: (conv(p.at("nin_shortcut"), x) if p.has("nin_shortcut") else x) + conv(
        p.at("conv2"), F.silu(group_norm(p.at("norm2"), conv(p.at("conv1"), F.silu(group_norm(p.at("norm1"), x, 1e-6))), 1e-6)))
    d = w.at("decoder")
    h = conv(d.at("conv_in"), conv(w.at("post_quant_conv"), z) if w.has("post_quant_conv") else z)
    h = res(d.at("mid.block_1"), h)
    a, n = d.at("mid.attn_1"), group_norm(d.at("mid.attn_1.norm"), h, 1e-6)
    q, k, v = (conv(a.at(name), n).flatten(2).transpose(1, 2) for name in "qkv")
    h = h + conv(a.at("proj_out"), attend(q, k, v, 1).transpose(1, 2).unflatten(2, h.shape[2:]))
    h = res(d.at("mid.block_2"), h)
    for level in reversed(range(d.at("up").count())):
        u = d.at(f"up.{level}")
        for i in range(u.at("block").count()):
            h = res(u.at(f"block.{i}"), h)
        if u.has("upsample"):
            h = conv(u.at("upsample.conv"), F.interpolate(h, scale_factor=2.0, mode="nearest"))
    return conv(d.at("conv_out"), F.silu(group_norm(d.at("norm_out"), h, 1e-6)))


# CLIP text transformers (Radford et al. 2021), in the two namings they come in.

def rename_open_clip(w):
    """A text transformer in OpenCLIP's naming under that of Hugging Face."""
    out = {"embeddings.token_embedding.weight": w.get("token_embedding.weight"),
           "embeddings.position_embedding.weight": w.get("positional_embedding"),
           "final_layer_norm.weight": w.get("ln_final.weight"), "final_layer_norm.bias": w.get("ln_final.bias"),
           "text_projection.weight": w.get("text_projection").T}
    for i in range(w.at("transformer.resblocks").count()):
        block, to = w.at(f"transformer.resblocks.{i}"), f"encoder.layers.{i}."
        for kind in ("weight", "bias"):
            for name, part in zip("qkv", block.get(f"attn.in_proj_{kind}").chunk(3)):
                out[f"{to}self_attn.{name}_proj.{kind}"] = part
            for ours, theirs in (("self_attn.out_proj", "attn.out_proj"), ("layer_norm1", "ln_1"),
                                 ("layer_norm2", "ln_2"), ("mlp.fc1", "mlp.c_fc"), ("mlp.fc2", "mlp.c_proj")):
                out[f"{to}{ours}.{kind}"] = block.get(f"{theirs}.{kind}")
    return Weights(out)


def text_states(w, ids, end, quick):
    """Every layer's output, and the projected (or bare) state of the end token behind the final norm."""
    h = F.embedding(ids, w.get("embeddings.token_embedding.weight")) + w.get("embeddings.position_embedding.weight")
    heads, states = max(1, h.shape[-1] // 64), []
    activation = (lambda v: v * torch.sigmoid(1.702 * v)) if quick else F.gelu
    for i in range(w.at("encoder.layers").count()):
        b = w.at(f"encoder.layers.{i}")
        n, a = layer_norm(b.at("layer_norm1"), h), b.at("self_attn")
        q, k, v = (linear(a.at(f"{name}_proj"), n) for name in "qkv")
        h = h + linear(a.at("out_proj"), attend(q, k, v, heads, causal=True))
        h = h + linear(b.at("mlp.fc2"), activation(linear(b.at("mlp.fc1"), layer_norm(b.at("layer_norm2"), h))))
        states.append(h)
    pooled = layer_norm(w.at("final_layer_norm"), h)[torch.arange(len(ids)), end]
    projection = w.get("text_projection.weight")
    return states, pooled if projection is None else pooled @ projection.T
