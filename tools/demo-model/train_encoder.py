"""Teach the encoder the formula latents by plain regression (needed for image-to-image only)."""
import argparse
import math
import os

import torch

from clock import Clock
from crops import Crops, psnr
from latents import SCALE
from networks import VAE, VAE_SIZE
from weights import load_parts

CROPS_UNTIL = 0.6
LOG_VARIANCE = -6.0                            # a narrow posterior


def set_output(net):
    """Let the 1x1 convolution give the checkpoint's scale and a constant variance."""
    with torch.no_grad():
        net.quant_conv.weight.copy_(torch.eye(8)[:, :, None, None])
        net.quant_conv.weight[:4] /= SCALE
        net.quant_conv.weight[4:] = 0
        net.quant_conv.bias.zero_()
        net.quant_conv.bias[4:] = LOG_VARIANCE


def main():
    """Train next to the finished decoder in vae.pt and put the result back there."""
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--work", default="work")
    ap.add_argument("--minutes", type=float, default=10)
    ap.add_argument("--wall-minutes", type=float, default=1e9)
    ap.add_argument("--rate", type=float, default=1.5e-3)
    ap.add_argument("--resume", help="start the encoder from this checkpoint")
    ap.add_argument("--threads", type=int, default=1)
    args = ap.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(2)
    path = os.path.join(args.work, "vae.pt")
    data, net = Crops(args.work, 3), VAE(**VAE_SIZE)
    state = torch.load(path)
    if args.resume:
        state |= {k: v for k, v in load_parts(args.resume)["vae"].items() if k.startswith(("encoder.", "quant_conv."))}
    net.load_state_dict(state)
    if not args.resume:
        set_output(net)
    params = list(net.encoder.parameters()) + list(net.quant_conv.parameters())
    opt = torch.optim.AdamW(params, lr=args.rate, betas=(0.9, 0.98), weight_decay=1e-4, fused=True)
    clock, step, mean = Clock(args.minutes, args.wall_minutes), 0, None
    while (done := clock.progress()) < 1:
        for group in opt.param_groups:
            group["lr"] = args.rate * min(1, (step + 1) / 30) * (0.02 + 0.49 * (1 + math.cos(math.pi * done)))
        x, z = data.batch(whole=done > CROPS_UNTIL)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            made, _ = net.encode(x)
        loss = (made.float() * SCALE - z).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(params, 1.0)
        opt.step()
        step += 1
        mean = loss.item() if mean is None else 0.97 * mean + 0.03 * loss.item()
        if step % 100 == 0:
            print("step %d done %.3f error %.4f" % (step, done, mean), flush=True)
    torch.save(net.state_dict(), path + ".part")
    os.replace(path + ".part", path)
    x, z = data.held_out()
    with torch.no_grad():
        made = torch.cat([net.encode(p[None])[0] for p in x])
        again = torch.cat([net.decode(m[None]) for m in made])
    print("finished: %d steps; held out: latent error %.4f, encode and decode %.2f dB"
          % (step, (made * SCALE - z).pow(2).mean(), psnr(again, x)))


if __name__ == "__main__":
    main()
