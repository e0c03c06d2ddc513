"""Procedural illustrated scenes with captions: the whole training set of the demo model is drawn here.

Every scene has few facts (an hour, a ground, one large subject, sometimes a second one) because a small model
learns few things well. Pictures are drawn at 512 pixels and reduced to 256. The same seed gives the same scene.
"""
import random
from dataclasses import dataclass, field

import numpy as np
from PIL import Image, ImageDraw

CANVAS = 512                                   # drawing size; the picture is half as wide
COLOURS = {"red": (214, 40, 40), "blue": (40, 92, 216), "yellow": (250, 208, 40), "green": (40, 156, 70),
           "orange": (244, 128, 24), "purple": (134, 60, 182), "white": (246, 244, 238), "pink": (246, 140, 184)}
COLOUR_WEIGHTS = [22, 18, 15, 9, 9, 10, 12, 9]
HOURS = {"day": 36, "sunset": 23, "night": 24, "dawn": 17}
GROUNDS = {"meadow": 36, "sea": 26, "desert": 18, "snow": 20}
SKY = {"day": ((58, 146, 236), (190, 228, 252)), "sunset": ((104, 48, 134), (255, 146, 48)),
       "night": ((8, 12, 46), (40, 56, 122)), "dawn": ((150, 188, 240), (255, 204, 216))}
LIGHT = {"day": (1, 1, 1), "sunset": (0.96, 0.76, 0.68), "night": (0.66, 0.68, 0.84), "dawn": (0.96, 0.90, 0.96)}
GROUND = {"meadow": ((126, 202, 78), (64, 146, 54)), "sea": ((84, 172, 220), (18, 82, 160)),
          "desert": ((244, 210, 134), (218, 164, 88)), "snow": ((248, 250, 254), (206, 220, 240))}
SUBJECTS = {"meadow": {"house": 42, "tree": 24, "balloon": 22, None: 12}, "sea": {"boat": 68, "balloon": 18, None: 14},
            "desert": {"cactus": 40, "pyramid": 36, "balloon": 14, None: 10},
            "snow": {"house": 32, "tree": 28, "penguin": 28, None: 12}}
WHITE, BROWN = (255, 255, 255), (116, 74, 44)


def mix(a, b, t):
    """Blend two colours, t = 0 gives the first."""
    return tuple(int(x + (y - x) * t) for x, y in zip(a, b))


def gradient(top, bottom, height):
    """A vertical colour ramp as a height x 1 x 3 array."""
    t = np.linspace(0, 1, height)[:, None]
    return (np.array(top)[None] * (1 - t) + np.array(bottom)[None] * t).astype(np.uint8)[:, None]


def article(word):
    """The word with its indefinite article."""
    return ("an " if word[0] in "aeiou" else "a ") + word


class Pen:
    """Filled shapes whose colours are multiplied by the light of the hour."""

    def __init__(self, image, light):
        self.draw, self.light = ImageDraw.Draw(image), light

    def tint(self, colour, lit=True):
        """The colour as this hour shows it."""
        return tuple(int(v * k) for v, k in zip(colour, self.light)) if lit else tuple(colour)

    def poly(self, points, colour, lit=True):
        """A filled polygon."""
        self.draw.polygon(points, fill=self.tint(colour, lit))

    def rect(self, x0, y0, x1, y1, colour, lit=True):
        """A filled rectangle."""
        self.draw.rectangle((x0, y0, x1, y1), fill=self.tint(colour, lit))

    def oval(self, x, y, rx, ry, colour, lit=True):
        """A filled ellipse around (x, y)."""
        self.draw.ellipse((x - rx, y - ry, x + rx, y + ry), fill=self.tint(colour, lit))

    def line(self, points, colour, width, lit=True):
        """A thick line."""
        self.draw.line(points, fill=self.tint(colour, lit), width=int(width))


def draw_house(pen, x, y, s, wall, roof, lamp):
    """A house of width 1.3 s with a gable roof, a door and two windows; (x, y) is the middle of its foot."""
    w, h = s * 0.52, s * 0.56
    pen.rect(x + w * 0.42, y - h - s * 0.56, x + w * 0.66, y - h - s * 0.1, mix(roof, (70, 50, 50), 0.5))
    pen.rect(x - w, y - h, x + w, y, wall)
    pen.rect(x + w * 0.78, y - h, x + w, y, mix(wall, (40, 30, 60), 0.22))
    pen.poly([(x - w * 1.26, y - h), (x + w * 1.26, y - h), (x, y - h - s * 0.56)], roof)
    pen.poly([(x - w * 1.26, y - h), (x + w * 1.26, y - h), (x + w * 1.12, y - h - s * 0.06), (x - w * 1.12, y - h - s * 0.06)],
             mix(roof, (30, 20, 40), 0.35))
    pen.rect(x - s * 0.12, y - s * 0.36, x + s * 0.12, y, (92, 56, 36))
    pane, rim = ((255, 226, 110), False) if lamp else ((176, 222, 248), True)
    for side in (-1, 1):
        cx, cy = x + side * s * 0.31, y - s * 0.34
        pen.rect(cx - s * 0.11, cy - s * 0.11, cx + s * 0.11, cy + s * 0.11, (250, 248, 240) if rim else (84, 60, 50))
        pen.rect(cx - s * 0.08, cy - s * 0.08, cx + s * 0.08, cy + s * 0.08, pane, not lamp)


def draw_tree(pen, x, y, s, kind):
    """A round green tree, an orange autumn tree, a pine or a snowy pine of height 1.25 s."""
    pen.rect(x - s * 0.08, y - s * 0.5, x + s * 0.08, y, BROWN)
    if "pine" in kind:
        for k in range(3):
            b, w = y - s * (0.24 + 0.32 * k), s * (0.46 - 0.10 * k)
            pen.poly([(x - w, b), (x + w, b), (x, b - s * 0.5)], mix((22, 104, 66), WHITE, 0.06 * k))
            if kind == "snowy pine":
                pen.poly([(x - w * 0.45, b - s * 0.275), (x, b - s * 0.5), (x + w * 0.45, b - s * 0.275), (x, b - s * 0.2)], (244, 248, 252))
        return
    leaf = (232, 116, 28) if kind == "autumn" else (46, 132, 56)
    pen.oval(x, y - s * 0.84, s * 0.44, s * 0.44, mix(leaf, (0, 0, 0), 0.14))
    pen.oval(x - s * 0.04, y - s * 0.89, s * 0.37, s * 0.36, leaf)
    pen.oval(x - s * 0.14, y - s * 0.99, s * 0.18, s * 0.17, mix(leaf, WHITE, 0.22))


def draw_boat(pen, x, y, s, sail):
    """A sailing boat of height 1.5 s with two sails of one colour."""
    pen.line([(x, y - s * 0.1), (x, y - s * 1.38)], (84, 56, 40), s * 0.06)
    pen.poly([(x + s * 0.05, y - s * 1.34), (x + s * 0.05, y - s * 0.24), (x + s * 0.72, y - s * 0.24)], sail)
    pen.poly([(x - s * 0.05, y - s * 1.16), (x - s * 0.05, y - s * 0.24), (x - s * 0.58, y - s * 0.24)], mix(sail, WHITE, 0.16))
    pen.poly([(x - s * 0.84, y - s * 0.16), (x + s * 0.84, y - s * 0.16), (x + s * 0.54, y + s * 0.18), (x - s * 0.54, y + s * 0.18)], BROWN)
    pen.poly([(x - s * 0.84, y - s * 0.16), (x + s * 0.84, y - s * 0.16), (x + s * 0.76, y - s * 0.06), (x - s * 0.76, y - s * 0.06)], (236, 222, 196))


def draw_balloon(pen, x, y, q, colour):
    """A hot air balloon of radius q with a lighter stripe and a basket."""
    for side in (-1, 1):
        pen.line([(x + side * q * 0.52, y + q * 0.78), (x + side * q * 0.2, y + q * 1.5)], (96, 72, 56), q * 0.07)
    pen.poly([(x - q * 0.86, y + q * 0.52), (x + q * 0.86, y + q * 0.52), (x + q * 0.3, y + q * 1.2), (x - q * 0.3, y + q * 1.2)], colour)
    pen.oval(x, y, q, q, colour)
    pen.oval(x, y, q * 0.42, q, mix(colour, WHITE if colour != COLOURS["white"] else (150, 160, 190), 0.32))
    pen.rect(x - q * 0.27, y + q * 1.42, x + q * 0.27, y + q * 1.8, (150, 98, 52))


def draw_cactus(pen, x, y, s):
    """A two-armed cactus of height s."""
    for shift, width, colour in ((0, 0.22, (44, 136, 70)), (-0.04, 0.06, (96, 182, 104))):
        pen.line([(x + s * shift, y), (x + s * shift, y - s)], colour, s * width)
        pen.oval(x + s * shift, y - s, s * width / 2, s * width / 2, colour)
        for side, height in ((-1, 0.4), (1, 0.54)):
            cx = x + side * s * 0.34 + s * shift * 0.7
            if shift == 0:
                pen.line([(x, y - s * height), (cx + side * s * 0.07, y - s * height)], colour, s * 0.15)
            pen.line([(cx, y - s * height + s * 0.06), (cx, y - s * (height + 0.32))], colour, s * width * 0.7)
            pen.oval(cx, y - s * (height + 0.32), s * width * 0.35, s * width * 0.35, colour)


def draw_pyramid(pen, x, y, s):
    """A pyramid of half width s with a dark side."""
    pen.poly([(x - s, y), (x + s, y), (x + s * 0.1, y - s * 1.05)], (236, 192, 104))
    pen.poly([(x + s * 0.38, y), (x + s, y), (x + s * 0.1, y - s * 1.05)], (168, 120, 62))


def draw_penguin(pen, x, y, s):
    """A penguin of height 1.1 s seen from the front."""
    black, orange = (34, 38, 54), (248, 158, 40)
    for side in (-1, 1):
        pen.oval(x + side * s * 0.16, y, s * 0.14, s * 0.06, orange)
        pen.poly([(x + side * s * 0.22, y - s * 0.68), (x + side * s * 0.46, y - s * 0.28), (x + side * s * 0.24, y - s * 0.34)], black)
    pen.oval(x, y - s * 0.44, s * 0.33, s * 0.45, black)
    pen.oval(x, y - s * 0.86, s * 0.23, s * 0.23, black)
    pen.oval(x, y - s * 0.38, s * 0.22, s * 0.34, (248, 248, 246))
    for side in (-1, 1):
        pen.oval(x + side * s * 0.09, y - s * 0.91, s * 0.06, s * 0.06, (250, 250, 250))
    pen.poly([(x - s * 0.09, y - s * 0.83), (x + s * 0.09, y - s * 0.83), (x, y - s * 0.70)], orange)


@dataclass
class Scene:
    """The random choices behind one picture and the words that describe them."""
    rng: random.Random
    hour: str = ""
    ground: str = ""
    light: tuple = (1, 1, 1)
    horizon: int = 0
    sky: list = field(default_factory=list)      # phrases for things in the sky and the distance
    subject: list = field(default_factory=list)  # phrases for the large objects
    image: Image.Image = None
    pen: Pen = None

    def pick(self, table, weights=None):
        """A random element of a list, or a key of a table of weights."""
        if isinstance(table, dict):
            return self.rng.choices(list(table), list(table.values()))[0]
        return self.rng.choices(table, weights)[0]

    def colour(self):
        """A random colour name."""
        return self.rng.choices(list(COLOURS), COLOUR_WEIGHTS)[0]


def paint_backdrop(sc):
    """Sky and ground ramps; returns the column of colours so that later shapes can restore it."""
    top, bottom = SKY[sc.hour]
    sc.horizon = int(CANVAS * sc.rng.uniform(0.56, 0.66))
    dim = 0.66 if sc.hour == "night" else 1          # the ground is darker than the objects, so that they stand out
    g0, g1 = (tuple(int(v * k * dim) for v, k in zip(c, sc.light)) for c in GROUND[sc.ground])
    if sc.ground == "sea":
        g0 = mix(g0, bottom, 0.35)
    ramp = np.concatenate([gradient(top, bottom, sc.horizon), gradient(g0, g1, CANVAS - sc.horizon)], 0)
    sc.image = Image.fromarray(np.repeat(ramp, CANVAS, 1))
    sc.pen = Pen(sc.image, sc.light)
    return ramp


def paint_heaven(sc, ramp, clear_x):
    """Stars, a moon or a sun; clear_x is the side (0..1) where nothing large stands."""
    r, pen, hz = sc.rng, sc.pen, sc.horizon
    x = CANVAS * min(0.86, max(0.14, clear_x + r.uniform(-0.08, 0.08)))
    if sc.hour == "night":
        if r.random() < 0.5:
            for _ in range(r.randint(7, 11)):
                sx, sy, q = r.uniform(10, CANVAS - 10), r.uniform(10, hz * 0.72), r.uniform(9, 13)
                pen.poly([(sx, sy - q), (sx + q * 0.35, sy - q * 0.35), (sx + q, sy), (sx + q * 0.35, sy + q * 0.35),
                          (sx, sy + q), (sx - q * 0.35, sy + q * 0.35), (sx - q, sy), (sx - q * 0.35, sy - q * 0.35)], (255, 248, 206), False)
            sc.sky.append("stars")
        if r.random() < 0.7:
            y, q = r.uniform(0.15, 0.27) * CANVAS, r.uniform(42, 56)
            pen.oval(x, y, q, q, (252, 244, 204), False)
            if r.random() < 0.5:
                pen.oval(x + q * 0.5, y - q * 0.12, q * 0.86, q * 0.86, tuple(int(v) for v in ramp[int(y), 0]), False)
                sc.sky.append("a crescent moon")
            else:
                pen.oval(x - q * 0.25, y - q * 0.1, q * 0.28, q * 0.28, (226, 214, 170), False)
                sc.sky.append(sc.pick(["a full moon", "the moon"]))
            return x, (210, 214, 220)
    elif r.random() < 0.62:
        if sc.hour == "day":
            y, q, glow = r.uniform(0.14, 0.26) * CANVAS, r.uniform(44, 58), (255, 220, 60)
        elif sc.hour == "sunset":
            y, q, glow = hz - r.uniform(0.04, 0.16) * CANVAS, r.uniform(54, 70), (255, 224, 96)
        else:
            y, q, glow = hz - r.uniform(0.04, 0.16) * CANVAS, r.uniform(46, 60), (255, 240, 190)
        at = tuple(int(v) for v in ramp[min(int(y), hz - 1), 0])
        pen.oval(x, y, q * 1.35, q * 1.35, mix(at, glow, 0.35), False)
        pen.oval(x, y, q, q, glow, False)
        if y + q * 1.35 > hz:
            sc.image.paste(Image.fromarray(np.repeat(ramp[hz:], CANVAS, 1)), (0, hz))
        sc.sky.append(sc.pick(["the sun", "a bright sun"], [80, 20]))
        if sc.hour != "day":
            return x, glow
    return None


def paint_distance(sc, ramp):
    """Mountains, hills or nothing on the horizon, and clouds."""
    r, pen, hz = sc.rng, sc.pen, sc.horizon
    back = sc.pick({"mountains": 30, "hills": 14 if sc.ground != "sea" else 0, "": 56})
    if back == "mountains":
        base = mix((112, 124, 164), SKY[sc.hour][1], 0.2)
        dim = 0.62 if sc.hour == "night" else 1
        for k in range(r.randint(2, 3)):
            x, h, w = CANVAS * (0.12 + 0.38 * k + r.uniform(-0.1, 0.1)), r.uniform(0.2, 0.33) * CANVAS, r.uniform(0.24, 0.34) * CANVAS
            pen.poly([(x - w, hz), (x + w, hz), (x, hz - h)], tuple(int(v * dim) for v in mix(base, (64, 74, 112), r.random() * 0.5)))
            pen.poly([(x - w * 0.34, hz - h * 0.66), (x, hz - h), (x + w * 0.34, hz - h * 0.66), (x + w * 0.12, hz - h * 0.74), (x - w * 0.1, hz - h * 0.62)], (246, 248, 252))
        sc.sky.append(sc.pick(["mountains", "snowy mountains", "mountains in the background"]))
    elif back == "hills":
        colour = {"desert": (222, 174, 102), "snow": (214, 226, 242)}.get(sc.ground, (92, 168, 80))
        for k in range(2):
            pen.oval(CANVAS * (0.2 + 0.6 * k + r.uniform(-0.12, 0.12)), hz + 10, r.uniform(0.34, 0.48) * CANVAS, r.uniform(0.14, 0.22) * CANVAS, mix(colour, (50, 100, 90), 0.16 * k))
        sc.image.paste(Image.fromarray(np.repeat(ramp[hz:], CANVAS, 1)), (0, hz))
        sc.sky.append(sc.pick(["hills", "rolling hills"]))
    if r.random() < (0.1 if sc.hour == "night" or (sc.hour == "day" and sc.sky and "sun" in sc.sky[0]) else 0.36):
        white = {"day": (255, 255, 255), "sunset": (255, 206, 176), "night": (190, 194, 214), "dawn": (255, 250, 250)}[sc.hour]
        for k in range(r.randint(2, 3)):
            x, y, q = CANVAS * (0.16 + 0.34 * k + r.uniform(-0.08, 0.08)), r.uniform(0.1, 0.26) * CANVAS, r.uniform(34, 46)
            for a, b, m in ((-1.3, 0.22, 0.7), (0, 0, 1.05), (1.25, 0.2, 0.75), (-0.6, 0.1, 0.8), (0.65, 0.1, 0.85)):
                pen.oval(x + a * q, y + b * q, q * m, q * m * 0.66, white, sc.hour == "night")
        sc.sky.append(sc.pick(["clouds", "white clouds", "a cloudy sky"] if sc.hour == "day" else ["clouds", "a cloudy sky"]))


def paint_sea(sc, glitter):
    """Short waves and the reflection of a low sun or moon."""
    r, pen, hz = sc.rng, sc.pen, sc.horizon
    if glitter:
        x, colour = glitter
        for k in range(5):
            y = hz + (CANVAS - hz) * (0.06 + 0.17 * k)
            w = 62 - 7 * k + r.uniform(-8, 8)
            pen.rect(x - w, y, x + w, y + 12, mix((90, 150, 200), colour, 0.8), False)
    for _ in range(6):
        x, y, w = r.uniform(0, CANVAS), hz + (CANVAS - hz) * r.uniform(0.15, 0.95), r.uniform(26, 48)
        pen.line([(x - w, y), (x + w, y)], (186, 224, 244), 7)


def house_words(sc, wall, roof):
    """One of several ways to name a house."""
    name = sc.pick(["house", "cottage"], [84, 16])
    return sc.pick([f"{article(wall)} {name} with {article(roof)} roof", f"{article(wall)} {name}",
                    f"{article(name)} with {article(roof)} roof", f"a small {wall} {name}", article(name)], [50, 26, 8, 6, 10])


def add_subject(sc, kind, x, scale=1.0):
    """Draw one large object at x (0..1) and remember its words."""
    r, pen = sc.rng, sc.pen
    foot = lambda a, b: sc.horizon + (CANVAS - sc.horizon) * r.uniform(a, b)
    px, k = x * CANVAS, scale
    if kind == "house":
        wall, roof = sc.colour(), sc.colour()
        while roof == wall:
            roof = sc.colour()
        draw_house(pen, px, foot(0.34, 0.56), k * r.uniform(215, 262), COLOURS[wall], COLOURS[roof], sc.hour == "night")
        sc.subject.append(house_words(sc, wall, roof))
    elif kind == "tree":
        what = sc.pick({"snowy pine": 100} if sc.ground == "snow" else {"round": 48, "pine": 30, "autumn": 22})
        count = 2 if scale == 1 and r.random() < 0.25 else 1
        name = {"round": "tree", "autumn": "autumn tree"}.get(what, "pine tree")
        for j in range(count):
            dx = (j - 0.5) * r.uniform(190, 230) if count == 2 else 0
            draw_tree(pen, px + dx, foot(0.3, 0.55), k * (0.84 if count == 2 else 1) * r.uniform(215, 265), what)
        sc.subject.append(article(name) if count == 1 else f"two {name}s")
    elif kind == "boat":
        c = sc.colour()
        draw_boat(pen, px, foot(0.36, 0.6), k * r.uniform(155, 200), COLOURS[c])
        b = sc.pick(["boat", "sailboat", "sailing boat"], [60, 25, 15])
        sc.subject.append(sc.pick([f"{article(b)} with {article(c)} sail", f"{article(b)} with {c} sails", f"{article(c)} {b}", article(b)], [46, 18, 26, 10]))
    elif kind == "balloon":
        c = sc.colour()
        draw_balloon(pen, px, CANVAS * r.uniform(0.27, 0.36), k * r.uniform(84, 108), COLOURS[c])
        sc.subject.append(sc.pick([f"{article(c)} hot air balloon", f"{article(c)} balloon", "a hot air balloon"], [60, 32, 8]))
    elif kind == "cactus":
        draw_cactus(pen, px, foot(0.36, 0.6), k * r.uniform(210, 265))
        sc.subject.append(sc.pick(["a cactus", "a green cactus"], [80, 20]))
    elif kind == "pyramid":
        draw_pyramid(pen, px, foot(0.1, 0.3), k * r.uniform(170, 225))
        sc.subject.append(sc.pick(["a pyramid", "an old pyramid"], [85, 15]))
    elif kind == "penguin":
        draw_penguin(pen, px, foot(0.4, 0.65), k * r.uniform(195, 245))
        sc.subject.append("a penguin")


def plan_subjects(sc):
    """Choose one subject, sometimes a smaller second one, and their places: list of (kind, x, scale)."""
    first = sc.pick(SUBJECTS[sc.ground])
    if first is None:
        return []
    x = 0.5 + sc.rng.uniform(-0.17, 0.17)
    pairs = {"house": ["tree", "tree", "balloon"], "boat": ["balloon"], "cactus": ["pyramid"], "pyramid": ["cactus"], "penguin": ["tree", "house"]}
    if first in pairs and sc.rng.random() < 0.28:
        second = sc.pick([k for k in pairs[first] if not (k == "balloon" and sc.ground == "snow")])
        side = sc.rng.choice([-1, 1])
        plan = [(first, 0.5 - side * 0.2 + sc.rng.uniform(-0.03, 0.03), 0.78), (second, 0.5 + side * 0.27 + sc.rng.uniform(-0.03, 0.03), 0.68)]
        return plan
    return [(first, x, 1.0)]


def words_for_hour(sc):
    """(phrase that continues a sentence, phrase for a list) for the hour."""
    return sc.pick({"day": [("during the day", "daytime"), ("under a blue sky", "a blue sky"), ("on a sunny day", "a sunny day"), ("in daylight", "day")],
                    "sunset": [("at sunset", "sunset"), ("at sunset", "a sunset sky"), ("in the evening", "evening"), ("under an orange sky", "an orange sky")],
                    "night": [("at night", "night"), ("at night", "at night"), ("under a night sky", "a night sky"), ("in the dark", "a dark night")],
                    "dawn": [("at dawn", "dawn"), ("at dawn", "dawn"), ("at sunrise", "sunrise"), ("in the early morning", "early morning"), ("under a pink sky", "a pink sky")]}[sc.hour])


def words_for_ground(sc):
    """(phrase that continues a sentence, phrase for a list) for the ground."""
    return sc.pick({"meadow": [("on a green meadow", "a green meadow"), ("on a grassy field", "a grassy field"), ("in a meadow", "a meadow"), ("on the grass", "green grass")],
                    "sea": [("on the sea", "the sea"), ("on the ocean", "the ocean"), ("on the water", "blue water"), ("on a calm sea", "a calm sea")],
                    "desert": [("in the desert", "the desert"), ("in a sandy desert", "a sandy desert"), ("on the sand", "sand")],
                    "snow": [("on a snowy field", "a snowy field"), ("in the snow", "snow"), ("in winter", "winter"), ("on snow", "snow on the ground")]}[sc.ground])


def caption(sc):
    """A sentence, a shuffled list, or a short prompt that leaves most facts out."""
    r = sc.rng
    hour, hour_item = words_for_hour(sc)
    ground, ground_item = words_for_ground(sc)
    things = " and ".join(sc.subject)
    if things and "balloon" in things and len(sc.subject) == 1 and r.random() < 0.6:
        ground = "over " + ground_item
    extra = [w for w in sc.sky if r.random() < 0.85]
    r.shuffle(extra)
    style = r.random()
    if style < 0.26:
        head = things or (ground_item if r.random() < 0.7 or not sc.sky else sc.pick(sc.sky))
        tails = [hour] + ([ground] if things else [])
        text = " ".join([head] + sc.pick([[], [tails[-1]], [tails[0]], [tails[-1], tails[0]] if things else tails], [16, 20, 32, 32]))
    elif style < 0.66:
        text = " ".join([things, ground, hour] if things else [ground_item, hour])
        if extra:
            text += sc.pick([", ", " with "], [75, 25]) + (", " if r.random() < 0.7 else " and ").join(extra)
    else:
        items = sc.subject + [ground_item, hour_item] + extra
        r.shuffle(items)
        text = ", ".join(items)
    if r.random() < 0.07:
        text = sc.pick(["a picture of ", "an illustration of ", "a painting of ", "a drawing of ", "a photo of "]) + text
    return text


def compose(seed):
    """Draw scene number `seed` and return the scene with its image at full drawing size."""
    sc = Scene(random.Random(seed))
    sc.hour, sc.ground = sc.pick(HOURS), sc.pick(GROUNDS)
    sc.light = LIGHT[sc.hour]
    ramp = paint_backdrop(sc)
    plan = plan_subjects(sc)
    taken = [x for _, x, _ in plan]
    clear = 0.5 if not taken else (0.2 if taken[0] > 0.5 else 0.8)
    if len(taken) == 2:
        clear = taken[0] if plan[1][0] == "balloon" else taken[1]
    glitter = paint_heaven(sc, ramp, clear)
    paint_distance(sc, ramp)
    if sc.ground == "sea":
        paint_sea(sc, glitter)
    for kind, x, scale in sorted(plan, key=lambda p: ["balloon", "pyramid", "tree", "house", "cactus", "boat", "penguin"].index(p[0])):
        add_subject(sc, kind, x, scale)
    if len(sc.subject) == 2 and sc.rng.random() < 0.6:
        sc.subject.reverse()
    return sc


def scene(seed):
    """Scene number `seed`: (256 x 256 x 3 uint8 picture, caption)."""
    sc = compose(seed)
    return np.asarray(sc.image.reduce(2)), caption(sc)
