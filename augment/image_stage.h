#ifndef MILLRACE_AUGMENT_IMAGE_STAGE_H_
#define MILLRACE_AUGMENT_IMAGE_STAGE_H_

// The image on its way through a pipeline: transforms change it in place, or
// write their result to a second buffer and make that the image.

#include <cstdint>

#include "absl/status/statusor.h"
#include "augment/image.h"
#include "augment/resample.h"

namespace millrace::augment {

// Confined to one thread.
class ImageStage {
 public:
  // Forgets the image, so that the next one uses the buffers in the same way.
  void Reset() {
    current_ = 0;
    image_ = ImageView();
  }

  // The image; valid until the next Accept().
  const ImageView& image() const { return image_; }

  // Memory for the next image, beside the present one. ResourceExhausted as
  // ImageBuffer::Allocate().
  absl::StatusOr<ImageView> Next(int height, int width, int channels) {
    return buffers_[1 - current_].Allocate(height, width, channels);
  }

  // Makes `next`, all or a part of what Next() gave, the image.
  void Accept(const ImageView& next) {
    current_ = 1 - current_;
    image_ = next;
  }

  ResampleScratch* resample_scratch() { return &resample_scratch_; }

  // Bytes held.
  int64_t ByteCount() const {
    return buffers_[0].capacity() + buffers_[1].capacity() +
           resample_scratch_.ByteCount();
  }

 private:
  ImageBuffer buffers_[2];
  int current_ = 0;
  ImageView image_;
  ResampleScratch resample_scratch_;
};

}  // namespace millrace::augment

#endif  // MILLRACE_AUGMENT_IMAGE_STAGE_H_
