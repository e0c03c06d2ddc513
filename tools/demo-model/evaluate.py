"""Measure how well a checkpoint follows the prompt: hour, ground, and the colours of houses, sails and balloons.

Hour and ground: nearest centroid of mean colours (sky and foreground) of freshly drawn scenes of each class.
Colours: every pixel of the window where the part is drawn goes to the nearest colour of a list (the palette and
the backgrounds); the palette colour with the most pixels is the answer. `--ceiling` applies the same tests to
drawn scenes instead of generated ones, to show what the tests themselves can tell.
"""
import argparse
import itertools
import re

import numpy as np

from export import DEFAULT_OUT
from sample import Sampler
from scenes import BROWN, COLOURS, GROUND, GROUNDS, HOURS, SKY, compose, mix
from tokens import MERGES

HOUR_WORDS = {"day": ["under a blue sky", "during the day"], "sunset": ["at sunset", "in the evening"],
              "night": ["at night", "under a night sky"], "dawn": ["at dawn", "at sunrise"]}
GROUND_WORDS = {"meadow": ["a tree on a green meadow", "a green meadow"], "sea": ["a boat on the sea", "the ocean"],
                "desert": ["a cactus in the desert", "a sandy desert"], "snow": ["a penguin in the snow", "a snowy field"]}
# rows and columns of the 256 x 256 picture where the part is drawn
WINDOWS = {"wall": (172, 196, 48, 208), "roof": (80, 132, 48, 208), "sail": (92, 170, 60, 196), "balloon": (40, 120, 50, 206)}
COLOUR_PROMPTS = {"wall": ["a {0} house with a {1} roof on {2} under a blue sky", "a {0} house with a {1} roof on {2} during the day"],
                  "sail": ["a boat with a {0} sail on the sea during the day", "a boat with a {0} sail on the ocean under a blue sky"],
                  "balloon": ["a {0} hot air balloon over a green meadow during the day", "a {0} balloon under a blue sky"]}
NEXT = {"red": "white", "blue": "orange", "yellow": "red", "green": "purple", "orange": "blue", "purple": "yellow", "white": "red", "pink": "blue"}
BACKGROUND = [mix(*SKY["day"], t / 6) for t in range(7)] + [mix(*GROUND[g], t / 4) for g in GROUND for t in range(5)] + [
    BROWN, (92, 56, 36), (250, 222, 60), (112, 124, 164), (80, 92, 130), (176, 222, 248)]


def features(picture):
    """Mean colour of the sky's upper corners and of the foreground's edge."""
    p = picture.astype(np.float32)
    return np.concatenate([p[4:70].mean((0, 1)), p[215:].mean((0, 1))])


def centroids(first=10_000_000, count=800):
    """Mean features of freshly drawn scenes per (hour, ground)."""
    found = {}
    for seed in range(first, first + count):
        sc = compose(seed)
        found.setdefault((sc.hour, sc.ground), []).append(features(np.asarray(sc.image.reduce(2))))
    return {k: np.mean(v, 0) for k, v in found.items()}


def classify(picture, table):
    """The (hour, ground) whose centroid is nearest."""
    return min(table, key=lambda k: ((table[k] - features(picture)) ** 2).sum())


def main_colour(picture, part):
    """The palette colour with the most pixels in the part's window, or None."""
    y0, y1, x0, x1 = WINDOWS[part]
    pixels = picture[y0:y1, x0:x1].reshape(-1, 3).astype(np.float32)
    names, backdrop = list(COLOURS), BACKGROUND
    if part == "wall":
        backdrop = [c for c in BACKGROUND if c not in [mix(*GROUND["snow"], t / 4) for t in range(5)]]
    options = np.array([COLOURS[n] for n in names] + backdrop, np.float32)
    nearest = ((pixels[:, None] - options[None]) ** 2).sum(-1).argmin(1)
    votes = np.bincount(nearest[nearest < len(names)], minlength=len(names))
    return names[votes.argmax()] if votes.max() > 0.04 * len(pixels) else None


def colour_jobs():
    """(prompt, {part: wanted colour}) for every colour of every part."""
    jobs = []
    for colour in COLOURS:
        ground = "a snowy field" if colour == "green" else "a green meadow"
        for kind, prompts in COLOUR_PROMPTS.items():
            want = {"wall": colour, "roof": NEXT[colour]} if kind == "wall" else {kind: colour}
            jobs += [(p.format(colour, NEXT[colour], ground), want) for p in prompts]
    return jobs


def score(pictures, wants, read):
    """Share of right answers per key of the wanted dictionaries."""
    right, total = {}, {}
    for picture, want in zip(pictures, wants):
        for key, value in want.items():
            total[key] = total.get(key, 0) + 1
            right[key] = right.get(key, 0) + (read(picture, key) == value)
    return {k: "%d of %d (%.0f %%)" % (right[k], total[k], 100 * right[k] / total[k]) for k in total}


def ceiling(table):
    """The same tests on drawn scenes."""
    pictures, wants, seeds = [], [], range(20_000_000, 20_000_300)
    for seed in seeds:
        sc = compose(seed)
        pictures.append(np.asarray(sc.image.reduce(2)))
        wants.append({"hour": sc.hour, "ground": sc.ground})
    print("drawn scenes:", score(pictures, wants, lambda p, k: classify(p, table)[k == "ground"]))
    pictures, wants = [], []
    for seed in range(20_000_300, 20_003_300):
        sc = compose(seed)
        words = " ".join(sc.subject)
        if sc.hour != "day" or len(sc.subject) != 1:
            continue
        want = {}
        if m := re.match(r"an? (\w+) (?:house|cottage) with an? (\w+) roof", words):
            if sc.ground == ("snow" if m[1] == "green" else "meadow"):
                want = {"wall": m[1], "roof": m[2]}
        elif m := re.match(r".*boat with (?:an? )?(\w+) sails?$", words):
            want = {"sail": m[1]}
        elif (m := re.match(r"an? (\w+) (?:hot air )?balloon", words)) and m[1] in COLOURS:
            want = {"balloon": m[1]}
        pictures.append(np.asarray(sc.image.reduce(2)))
        wants.append(want)
    print("drawn scenes:", score(pictures, wants, main_colour))


def batched(sampler, prompts, args):
    """Draw prompts sixteen at a time, each picture with its own seed."""
    return np.concatenate([sampler.draw(prompts[i:i + 16], args.guidance, args.steps, range(args.seed + i, args.seed + i + len(prompts[i:i + 16])))
                           for i in range(0, len(prompts), 16)])


def main():
    """Draw the test prompts and print the scores."""
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--checkpoint", default=DEFAULT_OUT)
    ap.add_argument("--guidance", type=float, default=4.5)
    ap.add_argument("--steps", type=int, default=20)
    ap.add_argument("--seed", type=int, default=100)
    ap.add_argument("--merges", default=MERGES)
    ap.add_argument("--ceiling", action="store_true")
    args = ap.parse_args()
    table = centroids()
    if args.ceiling:
        return ceiling(table)
    sampler = Sampler(args.checkpoint, args.merges)
    jobs = [(GROUND_WORDS[g][i] + " " + HOUR_WORDS[h][i], {"hour": h, "ground": g}) for h, g in itertools.product(HOURS, GROUNDS) for i in (0, 1)]
    pictures = batched(sampler, [p for p, _ in jobs], args)
    print(score(pictures, [w for _, w in jobs], lambda p, k: classify(p, table)[k == "ground"]))
    jobs = colour_jobs()
    pictures = batched(sampler, [p for p, _ in jobs], args)
    print(score(pictures, [w for _, w in jobs], main_colour))


if __name__ == "__main__":
    main()
