#ifndef MILLRACE_AUGMENT_PNM_DECODER_H_
#define MILLRACE_AUGMENT_PNM_DECODER_H_

// Decodes PBM, PGM and PPM, as text and binary, for any largest value: OpenCV
// scales only some of them to 8 bits.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "augment/image.h"
#include "augment/image_decoder.h"

namespace millrace::augment {

// Beside what ImageDecoder promises: a sample becomes round(value * 255 /
// largest value), half to even. Only scale 1.
//
// Confined to one thread.
class PnmDecoder : public ImageDecoder {
 public:
  absl::Status Decode(absl::string_view bytes, const ImageHeader& header,
                      const DecodeRequest& request,
                      const ImageView& out) override;
  int64_t ScratchBytes() const override { return row_.capacity(); }

 private:
  // One row of the image in bytes.
  ImageBuffer row_;
};

}  // namespace millrace::augment

#endif  // MILLRACE_AUGMENT_PNM_DECODER_H_
