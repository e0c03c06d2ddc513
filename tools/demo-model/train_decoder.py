"""Train the decoder alone: formula latents with a little noise -> pictures."""
import argparse
import math
import os

import torch

from clock import Clock
from crops import Crops, psnr
from latents import SCALE
from networks import VAE, VAE_SIZE
from weights import load_parts

CROPS_UNTIL = 0.62                             # share of the time on crops; then whole pictures


def fresh_input(net):
    """Let the first 1x1 convolution undo the checkpoint's scale, so that training starts from unit variance."""
    with torch.no_grad():
        net.post_quant_conv.weight.copy_(torch.eye(4)[:, :, None, None] * SCALE)
        net.post_quant_conv.bias.zero_()


def picture_loss(made, wanted):
    """Absolute and squared error, plus the error of the differences between neighbours (edges)."""
    d = made - wanted
    return d.abs().mean() + d.pow(2).mean() + 0.7 * (d.diff(dim=2).abs().mean() + d.diff(dim=3).abs().mean())


def main():
    """Train for the time budget and keep the moving average in vae.pt."""
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--work", default="work")
    ap.add_argument("--minutes", type=float, default=50)
    ap.add_argument("--wall-minutes", type=float, default=1e9)
    ap.add_argument("--rate", type=float, default=1.2e-3)
    ap.add_argument("--resume", help="start from this checkpoint")
    ap.add_argument("--threads", type=int, default=1)
    args = ap.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(1)
    data, net = Crops(args.work, 0), VAE(**VAE_SIZE)
    if args.resume:
        net.load_state_dict(load_parts(args.resume)["vae"])
    else:
        fresh_input(net)
    params = list(net.decoder.parameters()) + list(net.post_quant_conv.parameters())
    opt = torch.optim.AdamW(params, lr=args.rate, betas=(0.9, 0.98), weight_decay=1e-4, fused=True)
    average = [p.detach().clone() for p in params]
    pictures, latents = data.held_out()

    def swap():
        """Exchange the current weights and the moving average."""
        for e, p in zip(average, params):
            t = p.detach().clone()
            p.data.copy_(e)
            e.copy_(t)

    def check():
        """Save the average and measure it on held-out pictures."""
        swap()
        with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
            made = torch.cat([net.decode(z[None] / SCALE).float() for z in latents])
        path = os.path.join(args.work, "vae.pt")
        torch.save(net.state_dict(), path + ".part")
        os.replace(path + ".part", path)
        swap()
        return psnr(made, pictures)

    clock, step, mean = Clock(args.minutes, args.wall_minutes), 0, None
    print("start: %.2f dB" % check(), flush=True)
    while (done := clock.progress()) < 1:
        for group in opt.param_groups:
            group["lr"] = args.rate * min(1, (step + 1) / 50) * (0.02 + 0.49 * (1 + math.cos(math.pi * done)))
        x, z = data.batch(whole=done > CROPS_UNTIL)
        z = (z + 0.05 * torch.randn_like(z)) / SCALE          # forgive what the sampler leaves behind
        with torch.autocast("cpu", dtype=torch.bfloat16):
            made = net.decode(z)
        loss = picture_loss(made.float(), x)
        opt.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(params, 1.0)
        opt.step()
        step += 1
        torch._foreach_lerp_(average, [p.detach() for p in params], 1 - min(0.995, step / (step + 20)))
        mean = loss.item() if mean is None else 0.97 * mean + 0.03 * loss.item()
        if step % 200 == 0:
            print("step %d done %.3f loss %.4f held out %.2f dB" % (step, done, mean, check()), flush=True)
    print("finished: %d steps, %.2f dB" % (step, check()), flush=True)


if __name__ == "__main__":
    main()
