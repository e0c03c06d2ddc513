"""Prints test/fixtures/whisper-tiny.json: what transformers makes of the tiny Whisper and of Whisper's spectrogram.

Run: python3 goldens.py <folder of train.py> > ../../test/fixtures/whisper-tiny.json
"""

import json
import os
import sys

import numpy as np
import torch
from transformers import GenerationConfig, WhisperFeatureExtractor, WhisperForConditionalGeneration
from transformers.generation.logits_process import WhisperTimeStampLogitsProcessor

import tones
import train

FIXTURE = os.path.join(os.path.dirname(__file__), "../../test/fixtures/whisper-tiny")
SPEECH = [
    ["hello world.", "en", "transcribe"],
    ["     schöne grüße!    wie geht es?", "de", "transcribe"],
    ["bonjour, ami", "fr", "translate"],
    ["ab   cd     ef       gh         ij", "en", "transcribe"],
    ["first of all.   then we go on,    and on   and end here.", "en", "transcribe"],
]


def chirp(seconds):
    t = np.arange(int(seconds * 16000)) / 16000
    return (0.5 * np.sin(2 * np.pi * (100 * t + 700 * t * t))).astype(np.float32)


def rounded(values, digits=5):
    return [round(float(v), digits) for v in np.asarray(values).flatten()]


def spectrograms():
    for mels in [80, 128]:
        features = WhisperFeatureExtractor(feature_size=mels)(chirp(2.5), sampling_rate=16000, return_tensors="np")
        table = features.input_features[0]
        yield {"mels": mels, "everyMel": 7, "everyFrame": 13, "values": rounded(table[::7, :300:13])}


def rules():
    """Where the rules of times leave a choice, as runs of tokens, after what was written."""
    config = GenerationConfig.from_pretrained(FIXTURE)
    config.max_initial_timestamp_index = 50
    t = tones.FIRST_TIME
    cases = [[], [t], [t, 70], [t, 70, t + 40], [t, 70, t + 40, t + 40], [t, 70, t + 40, t + 40, 71], [t + 9, 70, 71, 72]]
    for number, written in enumerate(cases):
        i = np.arange(tones.VOCABULARY, dtype=np.float64)
        logits = 3 * np.sin(0.7 * i * i + number) + np.where(i >= t, -3 if number % 2 else -9, 0)
        processor = WhisperTimeStampLogitsProcessor(config, begin_index=3)
        given = torch.tensor([[tones.SOT, 266, tones.TRANSCRIBE, *written]])
        left = torch.isfinite(processor(given, torch.tensor(logits, dtype=torch.float32)[None])[0]).numpy()
        edges = np.flatnonzero(np.diff(np.concatenate([[0], left.astype(int), [0]])))
        yield {"written": written, "number": number, "left": edges.reshape(-1, 2).tolist()}


def heard(model, text, language, task):
    audio = tones.speak(text, language)
    short = len(audio) <= tones.WINDOW * tones.RATE
    features = train.FEATURES(
        audio, sampling_rate=16000, return_tensors="pt", **({} if short else {"truncation": False, "padding": "longest"})
    ).input_features
    detected = model.detect_language(input_features=features[..., : 2 * tones.TICKS])[0]
    out = model.generate(
        features, language=language, task=task, return_timestamps=True, return_segments=True, return_dict_in_generate=True
    )
    segments = [
        {"start": round(float(s["start"]), 2), "end": round(float(s["end"]), 2), "tokens": s["tokens"].tolist()}
        for s in out["segments"][0]
    ]
    code = next(code for code, token in tones.LANGUAGE_ID.items() if token == int(detected))
    return {"text": text, "language": language, "task": task, "detected": code, "segments": segments}


def numbers(model):
    """What the two halves make of the first of SPEECH."""
    features = train.FEATURES(tones.speak(*SPEECH[0][:2]), sampling_rate=16000, return_tensors="pt").input_features
    prompt = [tones.SOT, tones.LANGUAGE_ID["en"], tones.TRANSCRIBE, tones.FIRST_TIME, tones.ID[32]]
    with torch.no_grad():
        encoded = model.model.encoder(features).last_hidden_state
        logits = model(encoder_outputs=(encoded,), decoder_input_ids=torch.tensor([prompt])).logits
    return {
        "prompt": prompt,
        "everyPlace": 29,
        "everyValue": 5,
        "encoded": rounded(encoded[0, ::29, ::5], 4),
        "everyLogit": 37,
        "logits": rounded(logits[0, :, ::37], 4),
    }


def main(folder):
    model = WhisperForConditionalGeneration.from_pretrained(folder, attn_implementation="eager").eval()
    model.generation_config = GenerationConfig.from_pretrained(FIXTURE)
    print(
        json.dumps(
            {
                "spectrograms": list(spectrograms()),
                "numbers": numbers(model),
                "rules": list(rules()),
                "heard": [heard(model, *each) for each in SPEECH],
            }
        )
    )


if __name__ == "__main__":
    main(sys.argv[1])
