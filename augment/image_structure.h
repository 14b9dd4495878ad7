#ifndef MILLRACE_AUGMENT_IMAGE_STRUCTURE_H_
#define MILLRACE_AUGMENT_IMAGE_STRUCTURE_H_

// Whether the bytes of a PNG, BMP, TIFF or WebP are complete, decided before
// decoding and without it.

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "augment/image_header.h"

namespace millrace::augment {

// PNG: walks the chunks to IEND and checks their CRCs. BMP: the length that
// the size demands, of uncompressed ones. TIFF: strips and tiles end inside the
// file. WebP: the length in the RIFF header.
//
// Gives the bytes to decode: `bytes`, or, for a PNG with more than pixels in
// it, `*rewritten`, which has only what pixels need: other chunks (colour
// profiles above all) make libpng print warnings and change nothing here.
//
// DataLoss: truncated, or a checksum that is wrong.
// REQUIRES: `header` is ReadImageHeader(bytes), of one of these formats.
absl::StatusOr<absl::string_view> CheckImageStructure(absl::string_view bytes,
                                                      const ImageHeader& header,
                                                      std::string* rewritten);

}  // namespace millrace::augment

#endif  // MILLRACE_AUGMENT_IMAGE_STRUCTURE_H_
