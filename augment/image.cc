#include "augment/image.h"

#include <cstring>
#include <new>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace millrace::augment {

void CopyImage(const ConstImageView& source, const ImageView& target) {
  const size_t bytes = static_cast<size_t>(source.width) * source.channels;
  for (int y = 0; y < source.height; ++y) {
    std::memcpy(target.row(y), source.row(y), bytes);
  }
}

absl::StatusOr<ImageView> ImageBuffer::Allocate(int height, int width,
                                                int channels) {
  const ptrdiff_t stride = ptrdiff_t{width} * channels;
  const int64_t bytes = height * stride;
  if (bytes > capacity_) {
    data_.reset();
    capacity_ = 0;
    data_.reset(new (std::nothrow) uint8_t[bytes]);
    if (data_ == nullptr) {
      return absl::ResourceExhaustedError(
          absl::StrCat("no memory for an image of ", height, " x ", width,
                       " pixels: ", bytes, " bytes"));
    }
    capacity_ = bytes;
  }
  return ImageView{data_.get(), height, width, channels, stride};
}

}  // namespace millrace::augment
