"""Teaches a tiny Whisper the language of tones.py and saves its weights, rounded to half precision.

Run: python3 train.py <folder> [steps, 5500 unless told] [folder to go on from]
The fixture's weights are of 4000 steps at the highest rate and 1500 more that went on from there.
"""

import sys
import time

import numpy as np
import torch
import torch.nn.functional as F
from transformers import WhisperConfig, WhisperFeatureExtractor, WhisperForConditionalGeneration

import tones

CONFIG = WhisperConfig(
    vocab_size=tones.VOCABULARY,
    num_mel_bins=80,
    d_model=48,
    encoder_layers=0,
    decoder_layers=2,
    encoder_attention_heads=2,
    decoder_attention_heads=2,
    encoder_ffn_dim=96,
    decoder_ffn_dim=96,
    max_source_positions=tones.TICKS,
    max_target_positions=96,
    activation_function="gelu",
    dropout=0.0,
    pad_token_id=tones.EOT,
    bos_token_id=tones.EOT,
    eos_token_id=tones.EOT,
    decoder_start_token_id=tones.SOT,
    suppress_tokens=None,
    begin_suppress_tokens=None,
    attn_implementation="eager",
)
FEATURES = WhisperFeatureExtractor(feature_size=80, chunk_length=int(tones.WINDOW))
FILTERS = torch.tensor(FEATURES.mel_filters, dtype=torch.float32)
WINDOW = torch.hann_window(400)


def log_mel(audio):
    """[N, samples] to [N, 80, 600]."""
    power = torch.stft(audio, 400, 160, window=WINDOW, return_complex=True)[..., :-1].abs() ** 2
    logs = torch.clamp(FILTERS.T @ power, min=1e-10).log10()
    return (torch.maximum(logs, logs.amax((1, 2), keepdim=True) - 8) + 4) / 4


def batch(rng, size):
    audio, cuts, tokens = zip(*(tones.example(rng) for _ in range(size)))
    features = log_mel(torch.from_numpy(np.stack(audio)))
    for row, cut in zip(features, cuts):
        row[:, cut:] = 0
    length = max(map(len, tokens)) - 1
    pad = lambda rows, value: torch.tensor([row + [value] * (length - len(row)) for row in rows])
    return features, pad([t[:-1] for t in tokens], tones.EOT), pad([t[1:] for t in tokens], -100)


def fresh():
    model = WhisperForConditionalGeneration(CONFIG)
    with torch.no_grad():  # where a time points to and how far a byte moves on need not be learned
        places = model.model.encoder.embed_positions.weight
        model.model.decoder.embed_tokens.weight[tones.FIRST_TIME :][: tones.TICKS] = 0.3 * places
        half = places.shape[1] // 2
        rate = torch.exp(-np.log(10000) / (half - 1) * torch.arange(half))
        angles = tones.SLOT * torch.arange(96)[:, None] * rate
        model.model.decoder.embed_positions.weight[:] = 0.3 * torch.cat([angles.sin(), angles.cos()], 1)
    return model


def main(folder, steps=5500, known=None):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    rng = np.random.default_rng(steps)
    model = WhisperForConditionalGeneration.from_pretrained(known, attn_implementation="eager") if known else fresh()
    optimizer = torch.optim.AdamW(
        [p for p in model.parameters() if p.requires_grad], 3e-3, betas=(0.9, 0.98), weight_decay=0.01
    )
    rise = lambda step: min(1, step / 200, max(0.001, (steps - step) / 1500))
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, rise)
    began = time.time()
    for step in range(steps):
        features, given, wanted = batch(rng, 16)
        logits = model(input_features=features, decoder_input_ids=given).logits
        loss = F.cross_entropy(logits.flatten(0, 1), wanted.flatten(), ignore_index=-100)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step % 100 == 0 or step == steps - 1:
            right = (logits.argmax(-1) == wanted)[wanted != -100].float().mean()
            print(f"{step} loss {loss:.3f} right {right:.3f} {time.time() - began:.0f} s", flush=True)
        if step % 1000 == 999:
            model.save_pretrained(folder)
    model.half().float().save_pretrained(folder)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:3]), *sys.argv[3:])
