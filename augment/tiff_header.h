#ifndef MILLRACE_AUGMENT_TIFF_HEADER_H_
#define MILLRACE_AUGMENT_TIFF_HEADER_H_

// The first directory of a TIFF file, wherever in the file it lies.

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace millrace::augment {

struct TiffHeader {
  int64_t height = 0;
  int64_t width = 0;
  // Samples a pixel, and bits a sample.
  int channels = 1;
  int bits = 1;
};

// DataLoss: no TIFF (classic or BigTIFF, of either byte order), truncated, or
// no width and height in it.
absl::StatusOr<TiffHeader> ReadTiffHeader(absl::string_view bytes);

}  // namespace millrace::augment

#endif  // MILLRACE_AUGMENT_TIFF_HEADER_H_
