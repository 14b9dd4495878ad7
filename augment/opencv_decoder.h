#ifndef MILLRACE_AUGMENT_OPENCV_DECODER_H_
#define MILLRACE_AUGMENT_OPENCV_DECODER_H_

// Decodes PNG, BMP, TIFF and WebP by OpenCV.

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "augment/image.h"
#include "augment/image_decoder.h"

namespace millrace::augment {

// Beside what ImageDecoder promises: samples of 16 bits become
// round(value / 257); those of other widths, and floats, are an error. Only
// scale 1. The whole image is decoded, whatever the region.
//
// Confined to one thread.
class OpencvDecoder : public ImageDecoder {
 public:
  OpencvDecoder();
  ~OpencvDecoder() override;
  OpencvDecoder(const OpencvDecoder&) = delete;
  OpencvDecoder& operator=(const OpencvDecoder&) = delete;

  absl::Status Decode(absl::string_view bytes, const ImageHeader& header,
                      const DecodeRequest& request,
                      const ImageView& out) override;
  int64_t ScratchBytes() const override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace millrace::augment

#endif  // MILLRACE_AUGMENT_OPENCV_DECODER_H_
