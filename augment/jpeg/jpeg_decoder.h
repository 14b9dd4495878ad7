#ifndef MILLRACE_AUGMENT_JPEG_JPEG_DECODER_H_
#define MILLRACE_AUGMENT_JPEG_JPEG_DECODER_H_

// Decodes JPEG by libjpeg-turbo, with the settings that Pillow uses: accurate
// integer DCT, smooth chroma upsampling.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "augment/image.h"
#include "augment/image_decoder.h"

namespace millrace::augment {

// Beside what ImageDecoder promises:
//  * A file that lacks only its end marker is decoded as if it had one, unless
//    it is arithmetic-coded. Entropy-coded data that is too short for the image
//    is an error ("truncated") where there is no end marker; other damage
//    inside it is decoded as libjpeg does.
//  * CMYK and YCCK become RGB as in Pillow, taking the inks as inverted, which
//    is Adobe's convention.
//  * Nothing is written to standard error, and nothing stays allocated per
//    image, after failures either.
//
// Confined to one thread.
class JpegDecoder : public ImageDecoder {
 public:
  absl::Status Decode(absl::string_view bytes, const ImageHeader& header,
                      const DecodeRequest& request,
                      const ImageView& out) override;
  int64_t ScratchBytes() const override { return row_.capacity(); }

 private:
  // One row of the whole image, as libjpeg gives it.
  ImageBuffer row_;
};

}  // namespace millrace::augment

#endif  // MILLRACE_AUGMENT_JPEG_JPEG_DECODER_H_
