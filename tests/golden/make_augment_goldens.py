#!/usr/bin/env python3
"""Writes augment_goldens.txt: what torchvision on Pillow makes of images.

    python3 -m venv /tmp/goldens
    /tmp/goldens/bin/pip install torch torchvision pillow numpy
    /tmp/goldens/bin/python tests/golden/make_augment_goldens.py \
        > tests/golden/augment_goldens.txt

The image of H x W pixels with seed S has at (y, x, c) the value 5y + 3x + {0,
37, 91}[c] + 29 S modulo 256; with MODE L it has only the first channel. CRC is
the CRC-32 of the bytes of the result, HWC, or CHW float32 for pipelines. One
line a case:

    resize MODE H W S TOP LEFT HEIGHT WIDTH OUT_H OUT_W CRC     (crop first)
    short MODE H W S SIZE OUT_H OUT_W CRC
    center MODE H W S SIZE_H SIZE_W CRC
    rotate MODE H W S DEGREES CRC
    brightness|contrast|saturation|hue MODE H W S FACTOR CRC
    box SEED H W SCALE_LOW SCALE_HIGH RATIO_LOW RATIO_HIGH TOP LEFT H W
    jitter SEED B C S H ORDER(4) FACTORS(4, x for none)
    pipeline NAME MODE H W S SIZE SEED CRC
"""

import itertools
import random
import zlib

import numpy
import PIL
import torch
import torchvision
from PIL import Image
from torchvision import transforms as T
from torchvision.transforms import functional as F

MEAN = (0.485, 0.456, 0.406)
STD = (0.229, 0.224, 0.225)


def image(mode, height, width, seed):
    y, x, c = numpy.mgrid[0:height, 0:width, 0:3]
    offset = numpy.array([0, 37, 91])[c]
    pixels = ((5 * y + 3 * x + offset + 29 * seed) % 256).astype(numpy.uint8)
    return Image.fromarray(pixels if mode == "RGB" else pixels[:, :, 0])


def crc(result):
    data = result.numpy() if torch.is_tensor(result) else numpy.asarray(result)
    return f"{zlib.crc32(data.tobytes()):08x}"


def emit(*fields):
    print(*fields)


def resizes(rng):
    sides = [1, 2, 3, 5, 8, 16, 31, 64, 97, 224]
    cases = [(48, 64, 24, 32), (48, 64, 96, 128), (48, 64, 48, 64),
             (48, 64, 48, 30), (48, 64, 20, 64), (300, 7, 7, 300),
             # Around the limit that decides which pass comes first.
             (64, 48, 44, 38), (64, 48, 43, 38), (64, 48, 45, 38),
             (64, 48, 63, 48), (64, 48, 63, 60), (64, 48, 65, 40)]
    cases += [tuple(rng.choice(sides) for _ in range(4)) for _ in range(120)]
    for n, (h, w, out_h, out_w) in enumerate(cases):
        mode = "L" if n % 5 == 4 else "RGB"
        top, left = (rng.randrange(h), rng.randrange(w)) if n % 3 == 2 else (0, 0)
        height = rng.randint(1, h - top) if n % 3 == 2 else h
        width = rng.randint(1, w - left) if n % 3 == 2 else w
        result = F.resized_crop(image(mode, h, w, n % 7), top, left, height,
                                width, [out_h, out_w])
        emit("resize", mode, h, w, n % 7, top, left, height, width, out_h,
             out_w, crc(result))


def whole_sizes():
    for n, ((h, w), size) in enumerate(itertools.product(
            [(48, 64), (64, 48), (33, 33), (375, 500), (1, 9), (333, 97)],
            [1, 7, 30, 33, 64, 101])):
        mode = "L" if n % 4 == 3 else "RGB"
        result = T.Resize(size)(image(mode, h, w, n % 3))
        emit("short", mode, h, w, n % 3, size, result.height, result.width,
             crc(result))
    for n, ((h, w), (size_h, size_w)) in enumerate(itertools.product(
            [(48, 64), (225, 227), (229, 231), (5, 90), (3, 2)],
            [(224, 224), (33, 33), (1, 1), (64, 8), (7, 100)])):
        mode = "L" if n % 4 == 3 else "RGB"
        result = T.CenterCrop((size_h, size_w))(image(mode, h, w, n % 3))
        emit("center", mode, h, w, n % 3, size_h, size_w, crc(result))


def rotations(rng):
    angles = [0, 90, 180, 270, -90, 360, 450, 15, -15, 45.5, 60, 0.001, -0.001,
              30, 359.99, 89.999, 179.5]
    angles += [rng.uniform(-180, 180) for _ in range(30)]
    sizes = [(48, 64), (33, 33), (32, 32), (1, 5), (101, 40)]
    for n, angle in enumerate(angles):
        mode = "L" if n % 6 == 5 else "RGB"
        # As it is drawn: a float32.
        angle = float(numpy.float32(angle))
        h, w = sizes[n % len(sizes)]
        emit("rotate", mode, h, w, n % 3, angle,
             crc(F.rotate(image(mode, h, w, n % 3), angle)))


def colors(rng):
    factors = [0.0, 0.25, 0.6, 1.0, 1.3, 2.0, 7.5]
    factors += [rng.uniform(0, 2) for _ in range(8)]
    turns = [0.0, 0.003, -0.003, 0.1, -0.1, 0.5, -0.5, 0.004]
    turns += [rng.uniform(-0.5, 0.5) for _ in range(8)]
    changes = [("brightness", F.adjust_brightness, factors),
               ("contrast", F.adjust_contrast, factors),
               ("saturation", F.adjust_saturation, factors),
               ("hue", F.adjust_hue, turns)]
    for name, change, values in changes:
        for n, value in enumerate(values):
            mode = "L" if n % 7 == 6 else "RGB"
            value = float(numpy.float32(value))
            h, w = [(48, 64), (101, 97)][n % 2]
            emit(name, mode, h, w, n, value,
                 crc(change(image(mode, h, w, n), value)))


def boxes():
    sizes = [(375, 500), (500, 333), (64, 300), (1080, 1920), (1, 1), (1, 1000),
             (1000, 1), (2, 500), (10, 100), (224, 224)]
    ranges = [((0.08, 1.0), (3 / 4, 4 / 3)), ((0.9, 1.0), (3 / 4, 4 / 3)),
              ((0.2, 0.5), (0.5, 2.0))]
    for n, ((h, w), (scale, ratio)) in enumerate(
            itertools.product(sizes * 8, ranges)):
        torch.manual_seed(n)
        box = T.RandomResizedCrop.get_params(torch.empty(3, h, w), scale, ratio)
        emit("box", n, h, w, *scale, *ratio, *box)


def jitters():
    settings = [(0.4, 0.4, 0.4, 0.1), (0.2, 0.2, 0.2, 0), (0, 1.5, 0, 0.5),
                (0.8, 0, 0.3, 0)]
    for n, (b, c, s, h) in enumerate(settings * 8):
        torch.manual_seed(n)
        t = T.ColorJitter(b, c, s, h)
        order, *factors = T.ColorJitter.get_params(t.brightness, t.contrast,
                                                   t.saturation, t.hue)
        emit("jitter", n, b, c, s, h, *order.tolist(),
             *["x" if f is None else repr(f) for f in factors])


def pipelines():
    def normalized(mode, *transforms):
        channels = len(mode)
        return T.Compose([*transforms, T.ToTensor(),
                          T.Normalize(MEAN[:channels], STD[:channels])])

    def build(name, mode, size):
        crop = T.RandomResizedCrop(size)
        flip = T.RandomHorizontalFlip()
        if name == "train":
            return normalized(mode, crop, flip)
        if name == "train_full":
            return normalized(mode, crop, flip, T.RandomRotation(10),
                              T.ColorJitter(0.2, 0.2, 0.2))
        if name == "eval":
            return normalized(mode, T.Resize(size * 256 // 224),
                              T.CenterCrop(size))
        return normalized(mode, crop, flip, T.ColorJitter(0.4, 0.4, 0.4, 0.1),
                          T.RandomRotation(15))

    for n, (name, (h, w), size) in enumerate(itertools.product(
            ["train", "train_full", "eval", "jitter"] * 3,
            [(48, 64), (147, 190), (500, 333)], [32, 56])):
        mode = "L" if n % 5 == 4 else "RGB"
        transform = build(name, mode, size)
        torch.manual_seed(n)
        emit("pipeline", name, mode, h, w, n % 11, size, n,
             crc(transform(image(mode, h, w, n % 11))))


def main():
    emit("# Made by make_augment_goldens.py with torch",
         f"{torch.__version__}, torchvision {torchvision.__version__}, Pillow",
         PIL.__version__)
    rng = random.Random(1)
    resizes(rng)
    whole_sizes()
    rotations(rng)
    colors(rng)
    boxes()
    jitters()
    pipelines()


if __name__ == "__main__":
    main()
