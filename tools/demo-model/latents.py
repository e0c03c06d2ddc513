"""Latents by formula: no encoder is needed to make the training targets.

Per 8x8 block: mean R, G, B turned to their principal axes and scaled to unit variance (three channels), and
log(0.02 + standard deviation of luma), standardised (fourth channel). A value in the checkpoint's own scale is
this value divided by SCALE. The map (matrix and mean) is kept in latent-map.json, because a UNet, a decoder and
an encoder only fit together if all were trained with the same map.
"""
import argparse
import json
import os

import numpy as np
import torch
import torch.nn.functional as F

SCALE = 0.18215
MAP_FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "latent-map.json")


def to_float(pictures):
    """uint8 pictures (N, H, W, 3) as a float tensor (N, 3, H, W) in [-1, 1]."""
    return torch.from_numpy(np.array(pictures)).permute(0, 3, 1, 2).float() / 127.5 - 1


def block_features(x):
    """Raw features per 8x8 block: mean colour and log contrast."""
    luma = (x * torch.tensor([0.3, 0.59, 0.11])[None, :, None, None]).sum(1, keepdim=True)
    spread = (F.avg_pool2d(luma * luma, 8) - F.avg_pool2d(luma, 8) ** 2).clamp(min=0).sqrt()
    return torch.cat([F.avg_pool2d(x, 8), (spread + 0.02).log()], 1)


def fit_map(features):
    """Matrix and mean that give the features unit variance and uncorrelated colours."""
    f = features.permute(0, 2, 3, 1).reshape(-1, 4).double()
    mean = f.mean(0)
    values, axes = torch.linalg.eigh(torch.cov((f[:, :3] - mean[:3]).T))
    matrix = torch.zeros(4, 4, dtype=torch.float64)
    matrix[:3, :3] = (axes / values.sqrt()).T.flip(0)
    matrix[3, 3] = 1 / f[:, 3].std()
    return matrix.float(), mean.float()


def load_map(path=MAP_FILE):
    """Read the map from its JSON file."""
    with open(path) as f:
        data = json.load(f)
    return torch.tensor(data["matrix"]), torch.tensor(data["mean"])


def apply_map(features, matrix, mean):
    """Features to unit-variance latents."""
    return torch.einsum("ij,bjhw->bihw", matrix, features - mean[None, :, None, None])


def colours_of(matrix, mean):
    """[5, 3] in float64: what one of each channel adds to red, green and blue in [-1, 1], and the colour of zero."""
    factors = torch.zeros(4, 3, dtype=torch.float64)
    factors[:3] = torch.linalg.inv(matrix[:3, :3].double()).T
    return torch.cat([factors, mean[None, :3].double()])


def main():
    """Cache the latents of the pool at 32x32 (256 px) and at 16x16 (the same scenes at 128 px)."""
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--work", default="work")
    ap.add_argument("--fit", action="store_true", help="fit a new map (only when no earlier weights are to be reused)")
    args = ap.parse_args()
    pool = np.load(os.path.join(args.work, "pool.npy"), mmap_mode="r")
    full, half = [], []
    for i in range(0, len(pool), 100):
        x = to_float(pool[i:i + 100])
        full.append(block_features(x))
        half.append(block_features(F.avg_pool2d(x, 2)))
    full, half = torch.cat(full), torch.cat(half)
    if args.fit:
        matrix, mean = fit_map(full[:4000])
        with open(MAP_FILE, "w") as f:
            json.dump({"matrix": matrix.tolist(), "mean": mean.tolist()}, f, indent=1)
    matrix, mean = load_map()
    for name, features in (("latents256.pt", full), ("latents128.pt", half)):
        z = apply_map(features, matrix, mean)
        torch.save(z.half(), os.path.join(args.work, name))
        print(name, tuple(z.shape), "mean", z.mean((0, 2, 3)).tolist(), "std", z.std((0, 2, 3)).tolist())


if __name__ == "__main__":
    main()
