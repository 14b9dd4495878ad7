#ifndef MILLRACE_AUGMENT_IMAGE_HEADER_H_
#define MILLRACE_AUGMENT_IMAGE_HEADER_H_

// What the first bytes of an encoded image say: its format, whatever its name,
// and its size, before memory is taken for it.

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace millrace::augment {

enum class ImageFormat {
  kJpeg,
  kPng,
  kBmp,
  // PBM, PGM and PPM, as text or binary.
  kPnm,
  kTiff,
  kWebp,
};

// "JPEG", "PNG", ...
absl::string_view Name(ImageFormat format);

struct ImageHeader {
  ImageFormat format = ImageFormat::kJpeg;
  // Pixels, > 0, as decoded: an EXIF orientation is not applied, but TIFF's own
  // is, as in Pillow.
  int height = 0;
  int width = 0;
  // Channels as stored: 1 grey, 2 grey and alpha, 3 colour, 4 colour and alpha
  // or CMYK. A palette counts as 3.
  int channels = 3;
  // Bytes that decoding takes beside its output, about.
  int64_t working_bytes = 0;
};

// Reads no pixels, and nothing behind the header. DataLoss: "empty file", "too
// short", "truncated ...", an unknown format (naming the leading bytes), or a
// header that makes no sense.
absl::StatusOr<ImageHeader> ReadImageHeader(absl::string_view bytes);

}  // namespace millrace::augment

#endif  // MILLRACE_AUGMENT_IMAGE_HEADER_H_
