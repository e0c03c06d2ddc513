"""Put the trained parts together into one fp16 safetensors file in the Stable Diffusion 1.x layout."""
import argparse
import os

import torch

from tokens import CompactTable
from weights import save_parts

DEFAULT_OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "models", "checkpoints", "easel-demo.safetensors")


def main():
    """Expand the token table and write the file."""
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--work", default="work")
    ap.add_argument("--unet", default="unet.pt", help="file in the work folder")
    ap.add_argument("--vae", default="vae.pt", help="file in the work folder")
    ap.add_argument("--out", default=DEFAULT_OUT)
    args = ap.parse_args()
    trained = torch.load(os.path.join(args.work, args.unet))
    text, key = trained["text"], "embeddings.token_embedding.weight"
    text[key] = CompactTable(trained["used"]).expand(text[key])
    vae = torch.load(os.path.join(args.work, args.vae))
    tensors, numbers = save_parts({"unet": trained["unet"], "vae": vae, "text": text}, args.out)
    print("%d tensors, %.2f M parameters, %.2f MB" % (tensors, numbers / 1e6, os.path.getsize(args.out) / 1e6))


if __name__ == "__main__":
    main()
