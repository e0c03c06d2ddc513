"""Draw the training set: pool.npy (pictures) and captions.json in the work folder."""
import argparse
import json
import os
from multiprocessing import Pool

import numpy as np

from scenes import scene


def main():
    """Draw scenes 0..count-1 in parallel."""
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--work", default="work", help="folder for everything that is made on the way")
    ap.add_argument("--count", type=int, default=16000)
    ap.add_argument("--processes", type=int, default=2)
    args = ap.parse_args()
    os.makedirs(args.work, exist_ok=True)
    out = np.lib.format.open_memmap(os.path.join(args.work, "pool.npy"), "w+", np.uint8, (args.count, 256, 256, 3))
    captions = []
    with Pool(args.processes) as pool:
        for i, (picture, words) in enumerate(pool.imap(scene, range(args.count), chunksize=64)):
            out[i] = picture
            captions.append(words)
    with open(os.path.join(args.work, "captions.json"), "w") as f:
        json.dump(captions, f)


if __name__ == "__main__":
    main()
