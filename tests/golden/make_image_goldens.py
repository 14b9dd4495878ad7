#!/usr/bin/env python3
"""Writes small image files of many kinds, and what Pillow decodes them to.

    python3 -m venv /tmp/goldens
    /tmp/goldens/bin/pip install pillow numpy
    /tmp/goldens/bin/python tests/golden/make_image_goldens.py \
        tests/golden/images > tests/golden/image_goldens.txt

One line a file, with the CRC-32 of its HWC bytes as RGB, and as L:

    NAME HEIGHT WIDTH CRC_RGB CRC_L

Files of 16 bits are the exception: there the value is round(v / 257), while
Pillow clips grey ones at 255 and takes the high byte of others.
"""

import io
import pathlib
import struct
import sys
import zlib

import numpy
import PIL
from PIL import Image, PngImagePlugin, TiffImagePlugin

HEIGHT, WIDTH = 19, 27


def pixels(height=HEIGHT, width=WIDTH, seed=0):
    y, x, c = numpy.mgrid[0:height, 0:width, 0:3]
    offset = numpy.array([0, 37, 91])[c]
    return ((5 * y + 3 * x + offset + 29 * seed) % 256).astype(numpy.uint8)


def encoded(image, kind, **options):
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def jpeg(image, **options):
    return encoded(image, "JPEG", **{"subsampling": 0, **options})


def chunk(kind, data):
    return (struct.pack(">I", len(data)) + kind + data +
            struct.pack(">I", zlib.crc32(kind + data)))


def png_rows(rows):
    return b"".join(b"\0" + row.tobytes() for row in rows)


def png(array, depth, color_type, interlaced=False):
    """A PNG without filters, of samples that are whole bytes."""
    height, width = array.shape[:2]
    header = struct.pack(">IIBBBBB", width, height, depth, color_type, 0, 0,
                         int(interlaced))
    if interlaced:
        passes = [(0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4),
                  (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1)]
        parts = [array[y::dy, x::dx] for y, x, dy, dx in passes]
        data = b"".join(png_rows(p) for p in parts if p.size)
    else:
        data = png_rows(array)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) +
            chunk(b"IDAT", zlib.compress(data, 9)) + chunk(b"IEND", b""))


def ycck(cmyk):
    """The same coefficients, declared to be YCCK by Adobe's marker."""
    at = cmyk.index(b"Adobe") + len("Adobe") + 6
    return cmyk[:at] + b"\2" + cmyk[at + 1:]


def jpegs():
    rgb = Image.fromarray(pixels())
    gray = rgb.convert("L")
    inks = Image.merge("CMYK", [Image.fromarray(pixels(seed=i)[:, :, i % 3])
                                for i in range(4)])
    yield "444.jpg", jpeg(rgb)
    yield "422.jpg", jpeg(rgb, subsampling=1)
    yield "420.jpg", jpeg(rgb, subsampling=2)
    yield "gray.jpg", jpeg(gray)
    yield "progressive.jpg", jpeg(rgb, subsampling=2, progressive=True)
    yield "restart.jpg", jpeg(rgb, restart_marker_blocks=2)
    yield "rgb.jpg", jpeg(rgb, keep_rgb=True)
    yield "cmyk.jpg", jpeg(inks)
    yield "ycck.jpg", ycck(jpeg(inks))
    red = Image.new("CMYK", (16, 16), (0, 255, 255, 0))
    yield "red_cmyk.jpg", jpeg(red, quality=95)
    exif = Image.Exif()
    exif[274] = 6
    yield "exif6.jpg", jpeg(rgb, exif=exif)
    yield "two.jpg", encoded(rgb, "MPO", save_all=True,
                             append_images=[Image.fromarray(pixels(9, 7))])
    yield "named_jpeg.png", jpeg(rgb)


def pngs():
    rgb = Image.fromarray(pixels())
    palette = rgb.quantize(16)
    yield "rgb.png", encoded(rgb, "PNG")
    yield "rgba.png", encoded(alpha(rgb), "PNG")
    yield "gray.png", encoded(rgb.convert("L"), "PNG")
    yield "gray_alpha.png", encoded(rgb.convert("LA"), "PNG")
    yield "one_bit.png", encoded(rgb.convert("1"), "PNG")
    yield "palette.png", encoded(palette, "PNG")
    yield "palette_alpha.png", encoded(palette, "PNG",
                                       transparency=bytes(range(0, 256, 16)))
    yield "two_bits.png", encoded(rgb.quantize(4), "PNG", bits=2)
    text = PngImagePlugin.PngInfo()
    text.add_text("Comment", "x" * 40)
    yield "chunks.png", encoded(rgb, "PNG", pnginfo=text, dpi=(72, 72),
                                icc_profile=b"not a profile at all")
    yield "interlaced.png", png(pixels(), 8, 2, interlaced=True)
    yield "interlaced_1x1.png", png(pixels(1, 1), 8, 2, interlaced=True)
    yield "interlaced_3x5.png", png(pixels(3, 5), 8, 2, interlaced=True)
    yield "named_png.jpg", encoded(rgb, "PNG")


def alpha(rgb):
    image = rgb.copy()
    image.putalpha(rgb.convert("L"))
    return image


def others():
    rgb = Image.fromarray(pixels())
    gray = rgb.convert("L")
    palette = rgb.quantize(16)
    for name, image in [("rgb", rgb), ("gray", gray), ("palette", palette),
                        ("rgba", alpha(rgb)), ("one_bit", rgb.convert("1"))]:
        yield f"{name}.bmp", encoded(image, "BMP")
    yield "lossy.webp", encoded(rgb, "WEBP")
    yield "lossless.webp", encoded(rgb, "WEBP", lossless=True)
    yield "alpha.webp", encoded(alpha(rgb), "WEBP", lossless=True)
    for compression in ["raw", "tiff_lzw", "tiff_adobe_deflate", "packbits"]:
        yield f"{compression}.tiff", encoded(rgb, "TIFF",
                                             compression=compression)
    yield "gray.tif", encoded(gray, "TIFF")
    yield "palette.tif", encoded(palette, "TIFF")
    tags = TiffImagePlugin.ImageFileDirectory_v2()
    tags[274] = 6
    yield "orientation6.tif", encoded(rgb, "TIFF", tiffinfo=tags)
    yield "rgb.ppm", encoded(rgb, "PPM")
    yield "gray.pgm", encoded(gray, "PPM")
    yield "one_bit.pbm", encoded(rgb.convert("1"), "PPM")
    yield "text.ppm", b"P3 # text\n2 1\n100\n0 7 50\n100 99 1\n"
    yield "text.pgm", b"P2\n3 1\n15\n0 7 15\n"
    yield "text.pbm", b"P1\n# no spaces\n4 2\n0 1 0 1\n1101"
    yield "max15.ppm", b"P6 2 2 15\n" + bytes(range(12))
    yield "max10.pgm", b"P5 11 1 10\n" + bytes(range(11))


def sixteen_bits():
    """Name, file and the array of samples."""
    values = numpy.array([[0, 128, 255, 256, 4096, 32768, 65535]], ">u2")
    yield "gray16.png", png(values, 16, 0), values
    rgb = (pixels().astype(numpy.uint32) * 257 + numpy.arange(WIDTH)[:, None])
    rgb = (rgb % 65536).astype(">u2")
    yield "rgb16.png", png(rgb, 16, 2), rgb
    yield "rgb16_interlaced.png", png(rgb, 16, 2, interlaced=True), rgb
    image = Image.fromarray(values.astype(numpy.uint16))
    yield "gray16.tif", encoded(image, "TIFF"), values
    yield ("gray16.pgm", b"P5 7 1 65535\n" + values.tobytes(), values)


def emit(directory, name, data, image):
    (directory / name).write_bytes(data)
    crcs = [f"{zlib.crc32(image.convert(mode).tobytes()):08x}"
            for mode in ("RGB", "L")]
    print(name, image.height, image.width, *crcs)


def main():
    directory = pathlib.Path(sys.argv[1])
    directory.mkdir(exist_ok=True)
    print("# Made by make_image_goldens.py with Pillow", PIL.__version__)
    for files in jpegs(), pngs(), others():
        for name, data in files:
            image = Image.open(io.BytesIO(data))
            # Grey of anything but grey is that of its RGB.
            image = image.convert("L" if image.mode in ("L", "1") else "RGB")
            emit(directory, name, data, image)
    for name, data, samples in sixteen_bits():
        bytes_ = ((samples.astype(numpy.uint32) + 128) // 257).astype(
            numpy.uint8)
        emit(directory, name, data, Image.fromarray(bytes_))


if __name__ == "__main__":
    main()
