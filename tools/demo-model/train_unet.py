"""Train the text encoder and the UNet together on cached latents.

The first part runs on 16x16 latents (the scenes at 128 px, cheap), the rest on 32x32. Strong offset noise and
many late timesteps make the words, not the starting noise, decide the brightness and colour of the picture.
"""
import argparse
import json
import math
import os
import time

import torch

from clock import Clock
from networks import TEXT_SIZE, UNET_SIZE, Text, UNet
from tokens import END, MERGES, START, CompactTable, Tokeniser
from weights import load_parts

LATE = 0.5                                     # share of the timesteps drawn from 500..999
MEET = 25                                      # steps between two exchanges of weights
HELD_OUT = 128                                 # scenes at the end of the pool that are never trained on


def alphas():
    """Cumulative alphas of Stable Diffusion's scaled-linear schedule."""
    beta = torch.linspace(0.00085 ** 0.5, 0.012 ** 0.5, 1000, dtype=torch.float64) ** 2
    return torch.cumprod(1 - beta, 0).float()


class Trainer:
    """Both networks, their moving average and the data."""

    def __init__(self, args):
        self.args = args
        with open(os.path.join(args.work, "captions.json")) as f:
            captions = json.load(f)
        tokeniser = Tokeniser(args.merges)
        ids = [tokeniser.padded(c) for c in captions]
        self.table = CompactTable(sorted({t for line in ids for t in line}))
        self.ids = self.table.rows(ids)
        self.null = self.table.rows([tokeniser.padded("")])[0]
        self.fixed = torch.tensor([self.table.row[START], self.table.row[END]])
        print("distinct tokens", len(self.table.used), flush=True)
        self.unet = UNet(**UNET_SIZE).to(memory_format=torch.channels_last)
        self.text = Text(self.table.unknown + 1, **TEXT_SIZE)
        if args.resume:
            self.resume(args.resume)
        self.params = [p for m in (self.unet, self.text) for p in m.parameters()]
        self.average = [p.detach().clone() for p in self.params]
        self.opt = torch.optim.AdamW(self.params, lr=args.rate, betas=(0.9, 0.99), weight_decay=0.01, fused=True)
        self.ab = alphas()
        snr = self.ab / (1 - self.ab)
        self.weight = snr.clamp(max=5.0) / snr              # min-SNR weight for noise prediction
        self.steps = 0

    def resume(self, path):
        """Start from a checkpoint; tokens it has never seen start near its unknown word."""
        parts = load_parts(path)
        self.unet.load_state_dict(parts["unet"])
        key = "embeddings.token_embedding.weight"
        rows = self.table.compact(parts["text"][key])
        new = (rows == rows[-1]).all(1)
        new[-1] = False
        rows[new] += 0.02 * torch.randn(int(new.sum()), rows.shape[1])
        self.text.load_state_dict(parts["text"] | {key: rows})
        print("resumed;", int(new.sum()), "new tokens", flush=True)

    def loss(self, x0, ids, t, noise):
        """Weighted error of the predicted noise."""
        a = self.ab[t][:, None, None, None]
        xt = (a.sqrt() * x0 + (1 - a).sqrt() * noise).contiguous(memory_format=torch.channels_last)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            e = self.unet(xt, t, self.text(ids))
        return ((e.float() - noise).pow(2).mean((1, 2, 3)) * self.weight[t]).mean()

    def batch(self, latents, index):
        """One training batch: latents, damaged captions, timesteps, noise."""
        b = len(index)
        x0, ids = latents[index].float(), self.ids[index].clone()
        ids[(torch.rand(ids.shape) < 0.02) & ~torch.isin(ids, self.fixed)] = self.table.unknown
        ids[torch.rand(b) < 0.1] = self.null
        t = ((torch.arange(b) + torch.rand(b)) * (1000 / b)).long().clamp(0, 999)
        t = torch.where(torch.rand(b) < LATE, 500 + t // 2, t)
        noise = torch.randn_like(x0) + self.args.offset * torch.randn(b, 4, 1, 1)
        return x0, ids, t, noise

    def step(self, data, rate):
        """One optimiser step and the moving average."""
        for group in self.opt.param_groups:
            group["lr"] = rate
        loss = self.loss(*data)
        self.opt.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.params, 1.0)
        self.opt.step()
        self.steps += 1
        keep = min(self.args.ema, (self.steps + 1) / (self.steps + 30))
        torch._foreach_lerp_(self.average, [p.detach() for p in self.params], 1 - keep)
        return loss.item()

    def validate(self, latents):
        """Loss of the current weights on 64 held-out scenes with fixed noise."""
        n = len(latents) - HELD_OUT
        noise = torch.randn(64, *latents.shape[1:], generator=torch.Generator().manual_seed(1))
        with torch.no_grad():
            return self.loss(latents[n:n + 64].float(), self.ids[n:n + 64], torch.arange(64) * 15 + 20, noise).item()

    def save(self, name):
        """Write the averaged weights atomically."""
        it = iter(self.average)
        out = {part: {n: next(it).clone() for n, _ in m.named_parameters()} for part, m in (("unet", self.unet), ("text", self.text))}
        path = os.path.join(self.args.work, name)
        torch.save(out | {"used": self.table.used}, path + ".part")
        os.replace(path + ".part", path)

    def meet(self):
        """Leave our weights for a second process and go half way to the ones it left (local steps, shared mean)."""
        mine, other = (os.path.join(self.args.work, f"worker{k}.pt") for k in (self.args.worker, 3 - self.args.worker))
        torch.save([p.detach() for p in self.params], mine + ".part")
        os.replace(mine + ".part", mine)
        if os.path.exists(other):
            torch._foreach_lerp_([p.data for p in self.params], torch.load(other), 0.5)

    def run(self):
        """The whole schedule: warm-up, then cosine over the time budget, small latents first."""
        a, clock = self.args, Clock(self.args.minutes, self.args.wall_minutes)
        latents, size, order, mean, since = None, 0, None, None, time.time()
        while (done := clock.progress()) < 1:
            want, b = ("128", 32) if done < a.small else ("256", 16)
            if size != want:
                latents, size, order = torch.load(os.path.join(a.work, f"latents{want}.pt")), want, None
                print("now at", want, "px", flush=True)
            if order is None or len(order) < b:
                order = torch.randperm(len(latents) - HELD_OUT)
            index, order = order[:b], order[b:]
            rate = a.rate * min(1, (self.steps + 1) / 100) * max(0.02, 0.5 * (1 + math.cos(math.pi * done)))
            loss = self.step(self.batch(latents, index), rate)
            mean = loss if mean is None else 0.98 * mean + 0.02 * loss
            if a.worker and self.steps % MEET == 0:
                self.meet()
            if self.steps % 100 == 0:
                print("step %d done %.3f loss %.4f held out %.4f, %.1f s per 100 steps" % (self.steps, done, mean, self.validate(latents), time.time() - since), flush=True)
                since = time.time()
            if self.steps % 250 == 0 and a.worker < 2:
                self.save("unet.pt")
        if a.worker < 2:
            self.save("unet.pt")
        print("finished,", self.steps, "steps", flush=True)


def main():
    """Read the options and train."""
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--work", default="work")
    ap.add_argument("--minutes", type=float, default=90, help="training time; pauses do not count")
    ap.add_argument("--wall-minutes", type=float, default=1e9, help="stop after this time whatever happens")
    ap.add_argument("--small", type=float, default=0.66, help="share of the time spent at 16x16 latents")
    ap.add_argument("--rate", type=float, default=8e-4)
    ap.add_argument("--offset", type=float, default=0.37, help="strength of the offset noise")
    ap.add_argument("--ema", type=float, default=0.999)
    ap.add_argument("--resume", help="start from this checkpoint")
    ap.add_argument("--merges", default=MERGES)
    ap.add_argument("--threads", type=int, default=1)
    ap.add_argument("--seed", type=int, default=0, help="give two workers different ones")
    ap.add_argument("--worker", type=int, default=0, choices=(0, 1, 2), help="1 and 2: two processes that average their weights")
    args = ap.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    Trainer(args).run()


if __name__ == "__main__":
    main()
