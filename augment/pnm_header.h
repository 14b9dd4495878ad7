#ifndef MILLRACE_AUGMENT_PNM_HEADER_H_
#define MILLRACE_AUGMENT_PNM_HEADER_H_

// The head of a PBM, PGM or PPM file:
//
//   "P6"  width  height  largest value  one white space  samples...
//
// with numbers in decimal, comments from # to the line's end, and no largest
// value in bitmaps.

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace millrace::augment {

struct PnmHeader {
  int64_t height = 0;
  int64_t width = 0;
  int channels = 1;
  // Of a sample, in [1, 65535].
  int max_value = 1;
  // Samples are decimal numbers, else binary.
  bool text = false;
  // Samples are bits, 1 for black.
  bool bitmap = false;
  // Where the samples begin.
  size_t data_offset = 0;

  // Bytes of a row of binary samples.
  int64_t RowBytes() const {
    if (bitmap) return (width + 7) / 8;
    return width * channels * (max_value > 255 ? 2 : 1);
  }
};

// Whether `bytes` begin as such a file does.
bool IsPnm(absl::string_view bytes);

// DataLoss: truncated, or not numbers. Width and height may be 0, and are at
// most 2^40. REQUIRES: IsPnm(bytes).
absl::StatusOr<PnmHeader> ReadPnmHeader(absl::string_view bytes);

}  // namespace millrace::augment

#endif  // MILLRACE_AUGMENT_PNM_HEADER_H_
