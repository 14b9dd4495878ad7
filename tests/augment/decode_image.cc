#include "tests/augment/decode_image.h"

#include "augment/jpeg/jpeg_decoder.h"
#include "augment/opencv_decoder.h"
#include "augment/pnm_decoder.h"
#include "base/status_macros.h"

namespace millrace::augment {

absl::StatusOr<PixelImage> DecodeImage(absl::string_view bytes, int channels,
                                       std::optional<Region> region) {
  MILLRACE_ASSIGN_OR_RETURN(const ImageHeader header, ReadImageHeader(bytes));
  if (int64_t{header.height} * header.width > 1 << 20) {
    return absl::DataLossError("too many pixels for this test");
  }
  const DecodeRequest request = {
      .region = region.value_or(Region{0, 0, header.height, header.width})};
  PixelImage image(request.region.height, request.region.width, channels);
  JpegDecoder jpeg;
  PnmDecoder pnm;
  OpencvDecoder opencv;
  ImageDecoder* decoder = &opencv;
  if (header.format == ImageFormat::kJpeg) decoder = &jpeg;
  if (header.format == ImageFormat::kPnm) decoder = &pnm;
  MILLRACE_RETURN_IF_ERROR(
      decoder->Decode(bytes, header, request, image.view()));
  return image;
}

}  // namespace millrace::augment
