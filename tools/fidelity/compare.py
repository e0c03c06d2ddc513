"""Draw the same prompts with a running server and with torch, and say how far the pictures are apart.

python tools/fidelity/compare.py --server http://localhost:3000 --models models [checkpoint …]
"""
import argparse
import base64
import io
import itertools
import json
import os
import urllib.request

import numpy as np
from PIL import Image

from torch_pipeline import Pipeline

PROMPT = "a boat with a red sail on the sea at sunset, the sun"


def graph(checkpoint, how, side):
    """Text to picture as a ComfyUI graph."""
    encode = lambda text: {"class_type": "CLIPTextEncode", "inputs": {"text": text, "clip": ["1", 1]}}
    return {
        "1": {"class_type": "CheckpointLoaderSimple", "inputs": {"ckpt_name": checkpoint}},
        "2": encode(how["prompt"]), "3": encode(how["negative"]),
        "4": {"class_type": "EmptyLatentImage", "inputs": {"width": side, "height": side, "batch_size": 1}},
        "5": {"class_type": "KSampler", "inputs": {
            "model": ["1", 0], "positive": ["2", 0], "negative": ["3", 0], "latent_image": ["4", 0], "denoise": 1,
            "seed": how["seed"], "steps": how["steps"], "cfg": how["cfg"],
            "sampler_name": how["sampler"], "scheduler": how["scheduler"]}},
        "6": {"class_type": "VAEDecode", "inputs": {"samples": ["5", 0], "vae": ["1", 2]}},
        "7": {"class_type": "SaveImage", "inputs": {"images": ["6", 0], "filename_prefix": "fidelity"}}}


def served(server, prompt):
    """The server's picture as an array."""
    asked = urllib.request.Request(server + "/prompt", json.dumps({"prompt": prompt}).encode(), {"content-type": "application/json"})
    with urllib.request.urlopen(asked) as answer:
        image = json.load(answer)["images"][0]
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(image))).convert("RGB"))


def main():
    """One line a checkpoint, sampler and schedule."""
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("checkpoints", nargs="*", default=["easel-demo.safetensors"])
    ap.add_argument("--server", default="http://localhost:3000")
    ap.add_argument("--models", default="models", help="the server's folder of models")
    ap.add_argument("--side", type=int, default=256)
    ap.add_argument("--steps", type=int, default=20)
    args = ap.parse_args()
    print(f"{'checkpoint':32} {'sampler':16} {'schedule':9} mean of 255   max   equal")
    for name in args.checkpoints:
        pipeline = Pipeline(os.path.join(args.models, "checkpoints", name))
        for sampler, scheduler in itertools.product(("euler", "dpmpp_2m", "euler_ancestral"), ("normal", "karras")):
            how = dict(prompt=PROMPT, negative="blurry", seed=2, steps=args.steps, cfg=4.5, sampler=sampler, scheduler=scheduler)
            ours = served(args.server, graph(name, how, args.side)).astype(int)
            theirs = pipeline.draw(width=args.side, height=args.side, **how).astype(int)
            apart = np.abs(ours - theirs)
            print(f"{name:32} {sampler:16} {scheduler:9} {apart.mean():11.4f} {apart.max():5d} {(apart == 0).mean() * 100:6.1f} %", flush=True)


if __name__ == "__main__":
    main()
