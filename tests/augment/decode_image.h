#ifndef MILLRACE_TESTS_AUGMENT_DECODE_IMAGE_H_
#define MILLRACE_TESTS_AUGMENT_DECODE_IMAGE_H_

#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "augment/image.h"
#include "augment/image_decoder.h"
#include "tests/augment/pixel_image.h"

namespace millrace::augment {

// Decodes by the decoder of the format that the bytes have; the whole image
// where no region is given. Images of more than 2^20 pixels are an error.
absl::StatusOr<PixelImage> DecodeImage(absl::string_view bytes,
                                       int channels = 3,
                                       std::optional<Region> region = {});

}  // namespace millrace::augment

#endif  // MILLRACE_TESTS_AUGMENT_DECODE_IMAGE_H_
