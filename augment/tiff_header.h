#ifndef MILLRACE_AUGMENT_TIFF_HEADER_H_
#define MILLRACE_AUGMENT_TIFF_HEADER_H_

// The first directory of a TIFF file, wherever in the file it lies.

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace millrace::augment {

struct TiffHeader {
  // As stored, before `orientation` is applied.
  int64_t height = 0;
  int64_t width = 0;
  // Samples a pixel, and bits a sample.
  int channels = 1;
  int bits = 1;
  // 1 unsigned, 2 signed, 3 floating point.
  int sample_format = 1;
  // 1 to 8 as in EXIF; from 5 on rows and columns change places.
  int orientation = 1;
  // The byte behind the last strip or tile.
  uint64_t data_end = 0;
};

// DataLoss: no TIFF (classic or BigTIFF, of either byte order), truncated
// before the end of the directory or of its lists, or no width and height in
// it.
absl::StatusOr<TiffHeader> ReadTiffHeader(absl::string_view bytes);

}  // namespace millrace::augment

#endif  // MILLRACE_AUGMENT_TIFF_HEADER_H_
