"""CLIP byte-pair tokeniser and the compact token table used in training."""
import functools
import gzip
import os
import re

import torch

START, END, LENGTH, TABLE = 49406, 49407, 77, 49408
MERGES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "assets", "clip", "merges.txt.gz")
WORDS = re.compile(r"'s|'t|'re|'ve|'m|'ll|'d|[^\W\d_]+|\d|[^\s\w]+")


def read_merges(path):
    """Merge pairs from a text file, gzip or plain (first line is a version comment)."""
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8") as f:
        lines = f.read().split("\n")
    return [tuple(line.split()) for line in lines[1:49152 - 256 - 2 + 1]]


class Tokeniser:
    """Text to CLIP token ids."""

    def __init__(self, path=MERGES):
        merges = read_merges(path)
        visible = list(range(33, 127)) + list(range(161, 173)) + list(range(174, 256))
        hidden = [b for b in range(256) if b not in visible]
        self.symbol = {b: chr(b) for b in visible} | {b: chr(256 + i) for i, b in enumerate(hidden)}
        base = [self.symbol[b] for b in visible + hidden]
        entries = base + [s + "</w>" for s in base] + ["".join(m) for m in merges]
        self.ids = {entry: i for i, entry in enumerate(entries)}
        self.rank = {pair: i for i, pair in enumerate(merges)}
        self.word = functools.lru_cache(None)(self._word)

    def _word(self, word):
        """Ids of one word: join the best ranked pair until none is left."""
        parts = [self.symbol[b] for b in word.encode("utf-8")]
        parts[-1] += "</w>"
        while len(parts) > 1:
            k = min(range(len(parts) - 1), key=lambda i: self.rank.get((parts[i], parts[i + 1]), 1 << 30))
            if (parts[k], parts[k + 1]) not in self.rank:
                break
            parts[k:k + 2] = [parts[k] + parts[k + 1]]
        return [self.ids[p] for p in parts]

    def encode(self, text):
        """Ids of a prompt without the start and end tokens."""
        return [i for word in WORDS.findall(text.lower()) for i in self.word(word)]

    def padded(self, text):
        """Exactly 77 ids: start, the prompt, end, padded with the end token."""
        ids = [START] + self.encode(text)[:LENGTH - 2] + [END]
        return ids + [END] * (LENGTH - len(ids))


class CompactTable:
    """Maps the few token ids that occur to rows 0..n-1; every other token shares row n, the unknown word."""

    def __init__(self, used):
        self.used = list(used)
        self.row = {t: i for i, t in enumerate(self.used)}
        self.unknown = len(self.used)

    def rows(self, ids):
        """Row numbers for a list of lists of token ids."""
        return torch.tensor([[self.row.get(t, self.unknown) for t in line] for line in ids])

    def expand(self, weight):
        """The full table for the checkpoint: unseen tokens get the unknown row."""
        table = weight[self.unknown].repeat(TABLE, 1)
        table[torch.tensor(self.used)] = weight[:self.unknown]
        return table

    def compact(self, table):
        """Rows of a full table; its most frequent row is the unknown word."""
        rows, counts = torch.unique(table, dim=0, return_counts=True)
        return torch.cat([table[torch.tensor(self.used)], rows[counts.argmax()][None]])
