"""The three networks of a tiny Stable Diffusion 1.x checkpoint.

Attribute names follow the original single-file layout, so that `state_dict()` gives the checkpoint's own keys.
"""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

from fastnorm import FastGroupNorm

UNET_SIZE = dict(mc=64, mult=(1, 2, 2), nres=1, attn=(False, True, True), ctx=128, heads=8)
TEXT_SIZE = dict(w=128, layers=2, heads=2)
VAE_SIZE = dict(ch=32, mult=(1, 1, 2, 3), nres=1)


class Holder(nn.Module):
    """A named place for submodules, where the layout has one without a forward pass of its own."""


def zero(module):
    """Start a layer at zero, so that its block begins as the identity."""
    nn.init.zeros_(module.weight)
    if module.bias is not None:
        nn.init.zeros_(module.bias)
    return module


def split_heads(t, heads):
    """(batch, tokens, width) to (batch, heads, tokens, width per head)."""
    return t.unflatten(-1, (heads, -1)).transpose(1, 2)


def attend(q, k, v, causal=False):
    """Attention by plain products: with heads this small it trains 1.7 times as fast as the fused CPU kernel."""
    s = (q * q.shape[-1] ** -0.5) @ k.transpose(-1, -2)
    if causal:
        s = s + torch.full(s.shape[-2:], float("-inf"), dtype=s.dtype).triu(1)
    return s.softmax(-1).to(v.dtype) @ v


# Autoencoder. It trains fastest in the ordinary memory layout, with torch's own group normalisation.

def vae_norm(channels):
    """Group normalisation as the autoencoder has it."""
    return nn.GroupNorm(32, channels, eps=1e-6)


class VaeRes(nn.Module):
    """Residual block of the autoencoder."""

    def __init__(self, ci, co):
        super().__init__()
        self.norm1, self.conv1 = vae_norm(ci), nn.Conv2d(ci, co, 3, padding=1)
        self.norm2, self.conv2 = vae_norm(co), nn.Conv2d(co, co, 3, padding=1)
        self.same = ci == co
        if not self.same:
            self.nin_shortcut = nn.Conv2d(ci, co, 1)

    def forward(self, x):
        """Two convolutions around a shortcut."""
        h = self.conv1(F.silu(self.norm1(x)))
        h = self.conv2(F.silu(self.norm2(h)))
        return (x if self.same else self.nin_shortcut(x)) + h


class VaeAttention(nn.Module):
    """One attention head over all positions."""

    def __init__(self, c):
        super().__init__()
        self.norm = vae_norm(c)
        self.q, self.k, self.v = nn.Conv2d(c, c, 1), nn.Conv2d(c, c, 1), nn.Conv2d(c, c, 1)
        self.proj_out = nn.Conv2d(c, c, 1)

    def forward(self, x):
        """Attend and add."""
        n = self.norm(x)
        o = attend(*(layer(n).flatten(2).transpose(1, 2) for layer in (self.q, self.k, self.v)))
        return x + self.proj_out(o.transpose(1, 2).reshape(x.shape))


class VaeMid(nn.Module):
    """Block, attention, block at the lowest resolution."""

    def __init__(self, c):
        super().__init__()
        self.block_1, self.attn_1, self.block_2 = VaeRes(c, c), VaeAttention(c), VaeRes(c, c)

    def forward(self, x):
        """Run the three in turn."""
        return self.block_2(self.attn_1(self.block_1(x)))


class Encoder(nn.Module):
    """Picture to moments (mean and log variance)."""

    def __init__(self, ch, mult, nres, z=4):
        super().__init__()
        self.conv_in = nn.Conv2d(3, ch, 3, padding=1)
        c = ch
        self.down = nn.ModuleList()
        for i, m in enumerate(mult):
            level = Holder()
            level.block = nn.ModuleList()
            for _ in range(nres):
                level.block.append(VaeRes(c, ch * m))
                c = ch * m
            if i < len(mult) - 1:
                level.downsample = Holder()
                level.downsample.conv = nn.Conv2d(c, c, 3, stride=2)
            self.down.append(level)
        self.mid = VaeMid(c)
        self.norm_out = vae_norm(c)
        self.conv_out = nn.Conv2d(c, 2 * z, 3, padding=1)

    def forward(self, x):
        """Downsampling pads the right and bottom edge only."""
        x = self.conv_in(x)
        for level in self.down:
            for block in level.block:
                x = block(x)
            if hasattr(level, "downsample"):
                x = level.downsample.conv(F.pad(x, (0, 1, 0, 1)))
        return self.conv_out(F.silu(self.norm_out(self.mid(x))))


class Decoder(nn.Module):
    """Latent to picture."""

    def __init__(self, ch, mult, nres, z=4):
        super().__init__()
        c = ch * mult[-1]
        self.conv_in = nn.Conv2d(z, c, 3, padding=1)
        self.mid = VaeMid(c)
        levels = []
        for i in reversed(range(len(mult))):
            level = Holder()
            level.block = nn.ModuleList()
            for _ in range(nres + 1):
                level.block.append(VaeRes(c, ch * mult[i]))
                c = ch * mult[i]
            if i > 0:
                level.upsample = Holder()
                level.upsample.conv = nn.Conv2d(c, c, 3, padding=1)
            levels.insert(0, level)
        self.up = nn.ModuleList(levels)
        self.norm_out = vae_norm(c)
        self.conv_out = nn.Conv2d(c, 3, 3, padding=1)

    def forward(self, z):
        """From the lowest level up."""
        x = self.mid(self.conv_in(z))
        for level in reversed(self.up):
            for block in level.block:
                x = block(x)
            if hasattr(level, "upsample"):
                x = level.upsample.conv(F.interpolate(x, scale_factor=2.0, mode="nearest"))
        return self.conv_out(F.silu(self.norm_out(x)))


class VAE(nn.Module):
    """The autoencoder with its two 1x1 convolutions."""

    def __init__(self, ch, mult, nres):
        super().__init__()
        self.encoder, self.decoder = Encoder(ch, mult, nres), Decoder(ch, mult, nres)
        self.quant_conv, self.post_quant_conv = nn.Conv2d(8, 8, 1), nn.Conv2d(4, 4, 1)

    def encode(self, x):
        """Mean and log variance of the latent."""
        return self.quant_conv(self.encoder(x)).chunk(2, 1)

    def decode(self, z):
        """Picture in [-1, 1], not clamped."""
        return self.decoder(self.post_quant_conv(z))


# UNet. Every block takes (x, timestep embedding, text context), so that blocks can be put in a plain sequence.

class UnetRes(nn.Module):
    """Residual block with the timestep added in the middle."""

    def __init__(self, ci, co, te):
        super().__init__()
        self.in_layers = nn.Sequential(FastGroupNorm(32, ci), nn.SiLU(), nn.Conv2d(ci, co, 3, padding=1))
        self.emb_layers = nn.Sequential(nn.SiLU(), nn.Linear(te, co))
        self.out_layers = nn.Sequential(FastGroupNorm(32, co), nn.SiLU(), nn.Identity(),
                                        zero(nn.Conv2d(co, co, 3, padding=1)))
        self.skip_connection = nn.Conv2d(ci, co, 1) if ci != co else nn.Identity()

    def forward(self, x, e, ctx):
        """The context is not used here."""
        h = self.in_layers(x) + self.emb_layers(e)[:, :, None, None]
        return self.skip_connection(x) + self.out_layers(h)


class Attention(nn.Module):
    """Multi-head attention to a context."""

    def __init__(self, c, ctx, heads):
        super().__init__()
        self.heads = heads
        self.to_q = nn.Linear(c, c, bias=False)
        self.to_k, self.to_v = nn.Linear(ctx, c, bias=False), nn.Linear(ctx, c, bias=False)
        self.to_out = nn.Sequential(nn.Linear(c, c), nn.Identity())

    def forward(self, x, ctx):
        """x asks, ctx answers."""
        q, k, v = (split_heads(t, self.heads) for t in (self.to_q(x), self.to_k(ctx), self.to_v(ctx)))
        return self.to_out(attend(q, k, v).transpose(1, 2).flatten(2))


class GEGLU(nn.Module):
    """Gated linear unit with GELU."""

    def __init__(self, c, d):
        super().__init__()
        self.proj = nn.Linear(c, 2 * d)

    def forward(self, x):
        """Value times gate."""
        a, b = self.proj(x).chunk(2, -1)
        return a * F.gelu(b)


class FeedForward(nn.Module):
    """The transformer's two-layer network."""

    def __init__(self, c):
        super().__init__()
        self.net = nn.Sequential(GEGLU(c, 4 * c), nn.Identity(), nn.Linear(4 * c, c))

    def forward(self, x):
        """Apply the layers."""
        return self.net(x)


class TransformerBlock(nn.Module):
    """Self-attention, attention to the text, feed-forward."""

    def __init__(self, c, ctx, heads):
        super().__init__()
        self.attn1, self.ff, self.attn2 = Attention(c, c, heads), FeedForward(c), Attention(c, ctx, heads)
        self.norm1, self.norm2, self.norm3 = nn.LayerNorm(c), nn.LayerNorm(c), nn.LayerNorm(c)

    def forward(self, x, ctx):
        """Three residual steps."""
        n = self.norm1(x)
        x = x + self.attn1(n, n)
        x = x + self.attn2(self.norm2(x), ctx)
        return x + self.ff(self.norm3(x))


class SpatialTransformer(nn.Module):
    """A transformer block over the positions of a feature map."""

    def __init__(self, c, ctx, heads):
        super().__init__()
        self.norm = FastGroupNorm(32, c, eps=1e-6)
        self.proj_in = nn.Conv2d(c, c, 1)
        self.transformer_blocks = nn.ModuleList([TransformerBlock(c, ctx, heads)])
        self.proj_out = zero(nn.Conv2d(c, c, 1))

    def forward(self, x, e, ctx):
        """The timestep is not used here."""
        t = self.proj_in(self.norm(x)).flatten(2).transpose(1, 2)
        for block in self.transformer_blocks:
            t = block(t, ctx)
        return x + self.proj_out(t.transpose(1, 2).reshape(x.shape))


class Down(nn.Module):
    """Halve the resolution."""

    def __init__(self, c):
        super().__init__()
        self.op = nn.Conv2d(c, c, 3, stride=2, padding=1)

    def forward(self, x, e, ctx):
        """Strided convolution."""
        return self.op(x)


class Up(nn.Module):
    """Double the resolution."""

    def __init__(self, c):
        super().__init__()
        self.conv = nn.Conv2d(c, c, 3, padding=1)

    def forward(self, x, e, ctx):
        """Repeat pixels, then convolve."""
        return self.conv(F.interpolate(x, scale_factor=2.0, mode="nearest"))


class InputConv(nn.Conv2d):
    """The first convolution, with the signature of the other blocks."""

    def forward(self, x, e, ctx):
        """Plain convolution."""
        return super().forward(x)


class Blocks(nn.Sequential):
    """A sequence whose members all take (x, e, ctx)."""

    def forward(self, x, e, ctx):
        """Run them in turn."""
        for block in self:
            x = block(x, e, ctx)
        return x


def timestep_features(t, width):
    """Sinusoidal features of the timestep: cosines first, then sines."""
    half = width // 2
    f = torch.exp(-math.log(10000.0) * torch.arange(half, dtype=torch.float32) / half)
    a = t.float()[:, None] * f[None]
    return torch.cat([a.cos(), a.sin()], -1)


class UNet(nn.Module):
    """Predicts the noise in a latent, given the timestep and the text."""

    def __init__(self, mc, mult, nres, attn, ctx, heads):
        super().__init__()
        self.mc, te = mc, 4 * mc
        self.time_embed = nn.Sequential(nn.Linear(mc, te), nn.SiLU(), nn.Linear(te, te))
        self.input_blocks = nn.ModuleList([Blocks(InputConv(4, mc, 3, padding=1))])
        widths, c = [mc], mc
        for i, m in enumerate(mult):
            for _ in range(nres):
                layers = [UnetRes(c, mc * m, te)]
                c = mc * m
                if attn[i]:
                    layers.append(SpatialTransformer(c, ctx, heads))
                self.input_blocks.append(Blocks(*layers))
                widths.append(c)
            if i < len(mult) - 1:
                self.input_blocks.append(Blocks(Down(c)))
                widths.append(c)
        self.middle_block = Blocks(UnetRes(c, c, te), SpatialTransformer(c, ctx, heads), UnetRes(c, c, te))
        self.output_blocks = nn.ModuleList()
        for i in reversed(range(len(mult))):
            for j in range(nres + 1):
                layers = [UnetRes(c + widths.pop(), mc * mult[i], te)]
                c = mc * mult[i]
                if attn[i]:
                    layers.append(SpatialTransformer(c, ctx, heads))
                if i > 0 and j == nres:
                    layers.append(Up(c))
                self.output_blocks.append(Blocks(*layers))
        self.out = nn.Sequential(FastGroupNorm(32, c), nn.SiLU(), zero(nn.Conv2d(c, 4, 3, padding=1)))

    def forward(self, x, t, ctx):
        """Down, middle, up with the skipped features."""
        e = self.time_embed(timestep_features(t, self.mc))
        skips = []
        for block in self.input_blocks:
            x = block(x, e, ctx)
            skips.append(x)
        x = self.middle_block(x, e, ctx)
        for block in self.output_blocks:
            x = block(torch.cat([x, skips.pop()], 1), e, ctx)
        return self.out(x)


# Text encoder in CLIP's style.

class TextAttention(nn.Module):
    """Causal self-attention."""

    def __init__(self, w, heads):
        super().__init__()
        self.heads = heads
        self.k_proj, self.v_proj = nn.Linear(w, w), nn.Linear(w, w)
        self.q_proj, self.out_proj = nn.Linear(w, w), nn.Linear(w, w)

    def forward(self, x):
        """Every token sees itself and the tokens before it."""
        q, k, v = (split_heads(t, self.heads) for t in (self.q_proj(x), self.k_proj(x), self.v_proj(x)))
        return self.out_proj(attend(q, k, v, causal=True).transpose(1, 2).flatten(2))


class TextMlp(nn.Module):
    """Two layers with CLIP's quick GELU."""

    def __init__(self, w):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(w, 4 * w), nn.Linear(4 * w, w)

    def forward(self, x):
        """Apply them."""
        x = self.fc1(x)
        return self.fc2(x * torch.sigmoid(1.702 * x))


class TextLayer(nn.Module):
    """Pre-norm transformer layer."""

    def __init__(self, w, heads):
        super().__init__()
        self.self_attn, self.mlp = TextAttention(w, heads), TextMlp(w)
        self.layer_norm1, self.layer_norm2 = nn.LayerNorm(w), nn.LayerNorm(w)

    def forward(self, x):
        """Two residual steps."""
        x = x + self.self_attn(self.layer_norm1(x))
        return x + self.mlp(self.layer_norm2(x))


class Text(nn.Module):
    """Token ids (or rows of a compact table) to one vector per token."""

    def __init__(self, rows, w, layers, heads):
        super().__init__()
        self.embeddings, self.encoder = Holder(), Holder()
        self.embeddings.token_embedding = nn.Embedding(rows, w)
        self.embeddings.position_embedding = nn.Embedding(77, w)
        nn.init.normal_(self.embeddings.token_embedding.weight, std=0.1)
        nn.init.normal_(self.embeddings.position_embedding.weight, std=0.05)
        self.encoder.layers = nn.ModuleList([TextLayer(w, heads) for _ in range(layers)])
        self.final_layer_norm = nn.LayerNorm(w)

    def forward(self, ids):
        """The last hidden state after the final normalisation."""
        x = self.embeddings.token_embedding(ids) + self.embeddings.position_embedding.weight[None]
        for layer in self.encoder.layers:
            x = layer(x)
        return self.final_layer_norm(x)
