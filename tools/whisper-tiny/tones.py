"""The toy language that the tiny Whisper of test/fixtures/whisper-tiny understands, and examples to learn it from.

Each byte of a text is a tone of 0.17 s and 0.03 s of silence; a blank is 0.2 s of silence. A low hum says the language:
none is English, 6000 Hz German, 7200 Hz French. Translated text is written in capitals. Three blanks or more part two
phrases. test/support/speech.ts speaks the same language.

A model this small cannot learn to count freely: after a pause of exactly three blanks it writes on, for the tokens
between two phrases (end, begin, blank) are three as well; after any other it stops where the next phrase begins, and
hears that in its next window.
"""

import numpy as np

RATE = 16000
WINDOW = 6.0  # seconds; Whisper's own is 30
SLOT = 10  # ticks of 0.02 s for a byte
LETTERS = "abcdefghijklmnopqrstuvwxyz.,?!'-".encode() + "äöüßé".encode()[1::2] + b"\xc3"
PITCH = {b: 400 + 60 * i if i < 10 else 1000 * 1.06 ** (i - 10) for i, b in enumerate(LETTERS)}
HUM = {"en": 0, "de": 6000, "fr": 7200}
LANGUAGES = list(HUM)


def byte_alphabet():
    """GPT-2's bytes in the order of its vocabulary, and the character that stands for each."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in plain]
    return {b: chr(b) for b in plain} | {b: chr(256 + i) for i, b in enumerate(others)}


ALPHABET = byte_alphabet()
ID = {b: i for i, b in enumerate(ALPHABET)}
# No tone makes these; they let the tests of reading tokens have some of several bytes.
MERGES = [("Ã", "¤"), ("i", "n"), ("in", "g"), ("t", "h"), ("th", "e"), ("Ġ", "the"), ("ð", "Ł"), ("ĺ", "Ģ")]
EOT = 256 + len(MERGES)
SOT = EOT + 1
LANGUAGE_ID = {code: SOT + 1 + i for i, code in enumerate(LANGUAGES)}
TRANSLATE, TRANSCRIBE, START_OF_LM, PREVIOUS, NO_SPEECH, NO_TIMESTAMPS = range(SOT + 4, SOT + 10)
FIRST_TIME = NO_TIMESTAMPS + 1
TICKS = round(WINDOW / 0.02)
VOCABULARY = FIRST_TIME + TICKS + 1


def tone(frequency):
    t = np.arange(int(0.17 * RATE)) / RATE
    fade = np.minimum(1, np.minimum(t, 0.17 - t) / 0.01)
    return np.sin(2 * np.pi * frequency * t) * fade


TONE = {b: tone(f).astype(np.float32) for b, f in PITCH.items()}
SIZE = int(WINDOW * RATE)
HUMS = {code: np.sin(2 * np.pi * f * np.arange(SIZE) / RATE).astype(np.float32) for code, f in HUM.items()}
NOISE = np.random.default_rng(1).standard_normal(60 * RATE).astype(np.float32)


def speak(text, language="en", amplitude=0.25):
    """What test/support/speech.ts makes of a text without a pause."""
    body = text.lower().encode()
    audio = np.zeros(len(body) * SLOT * 320)
    for i, b in enumerate(body):
        if b in TONE:
            audio[i * 3200 : i * 3200 + len(TONE[b])] += amplitude * TONE[b]
    if HUM[language]:
        audio += 0.1 * amplitude * np.sin(2 * np.pi * HUM[language] * np.arange(len(audio)) / RATE)
    return audio.astype(np.float32)


def words(rng, length):
    out = []
    while len(out) < length:
        for _ in range(min(rng.integers(1, 7), length - len(out))):
            if rng.random() < 0.04:
                out += [0xC3, "äöüßé".encode()[1::2][rng.integers(5)]]
            else:
                out.append(LETTERS[rng.integers(26)] if rng.random() < 0.93 else LETTERS[26 + rng.integers(6)])
        if rng.random() < 0.15:
            out.append(b",.?!"[rng.integers(4)])
        out.append(32)
    while out[-1] == 32:
        out.pop()
    if rng.random() < 0.5:
        out.append(b".?!"[rng.integers(3)])
    return out


def write(body, translate):
    return [ID[b - 32 if translate and 97 <= b <= 122 else b] for b in body]


def example(rng):
    """Samples, the second from which on features are nought, the tokens from SOT to EOT."""
    language = LANGUAGES[rng.integers(3)]
    translate = rng.random() < 0.2
    timed = rng.random() < 0.85
    slots = TICKS // SLOT
    audio = np.zeros(SIZE, np.float32)
    shift = int(rng.integers(-480, 481)) if rng.random() < 0.5 else 0
    written = []
    at = 0 if not timed or rng.random() < 0.3 else int(rng.integers(0, 22))
    silent = rng.random() < 0.05
    pause, first, end = 3, True, 0
    while not silent and at < slots:
        body = words(rng, int(rng.integers(1, 45 if rng.random() < 0.2 else 16)))
        end = at + len(body)
        for i, b in enumerate(body):
            start = (at + i) * SLOT * 320 + shift
            lo, hi = max(start, 0), min(start + 2720, SIZE)
            if b in TONE and hi > lo:
                audio[lo:hi] += TONE[b][lo - start : hi - start] * np.float32(rng.uniform(0.8, 1.2))
        if first or pause == 3:
            whole = end <= slots
            if timed:
                written.append(FIRST_TIME + at * SLOT)
            if first or whole:
                written += [ID[32], *write(body[: slots - at], translate)]
            if timed and whole:
                written.append(FIRST_TIME + end * SLOT)
            closed = not whole
        elif not closed:
            if timed:
                written.append(FIRST_TIME + at * SLOT)
            closed = True
        first = False
        pause = 3 if timed and rng.random() < 0.5 else int(rng.integers(4, 12))
        if not timed or rng.random() < 0.25:
            break
        at = end + pause
        if closed:
            pause = 0
    if HUM[language]:
        at = int(rng.integers(0, 1600))
        hum = np.float32(rng.uniform(0.07, 0.14)) * np.roll(HUMS[language], at)
        if end and rng.random() < 0.7:  # a recording that ends with its last word
            hum[end * SLOT * 320 :] = 0
        audio += hum
    audio *= np.float32(np.exp(rng.uniform(np.log(0.05), np.log(0.8))))
    if rng.random() < 0.7:
        at = int(rng.integers(0, len(NOISE) - SIZE))
        audio += NOISE[at : at + SIZE] * np.float32(np.exp(rng.uniform(np.log(1e-5), np.log(3e-3))))
    if written:
        task = [LANGUAGE_ID[language], TRANSLATE if translate else TRANSCRIBE]
        written = task + ([] if timed else [NO_TIMESTAMPS]) + written
    else:
        written = [NO_SPEECH]
    cut = end * SLOT * 2 + int(rng.integers(20)) if rng.random() < 0.1 else 2 * TICKS
    return audio, cut, [SOT, *written, EOT]
