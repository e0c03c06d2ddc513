"""Write into an existing checkpoint how its latents look, for the pictures that are shown while a sampler runs."""
import argparse

from safetensors.torch import load_file

from export import DEFAULT_OUT
from weights import save_marked


def main():
    """Read the file, add the mark and replace the file."""
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--file", default=DEFAULT_OUT)
    args = ap.parse_args()
    save_marked(load_file(args.file), args.file)


if __name__ == "__main__":
    main()
