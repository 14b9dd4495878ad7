#ifndef MILLRACE_TOOLS_JPEG_ENCODER_H_
#define MILLRACE_TOOLS_JPEG_ENCODER_H_

// Writes JPEGs of every common kind, for data sets made by tools: OpenCV's
// encoder of Debian 12 can't choose the chroma subsampling.

#include <string>

#include "absl/status/statusor.h"
#include "opencv2/core.hpp"

namespace millrace::tools {

struct JpegEncoding {
  // libjpeg's quality, in [1, 100].
  int quality = 90;
  // Luma samples for each chroma sample: 1 x 1 is 4:4:4, 2 x 1 is 4:2:2, 2 x 2
  // is 4:2:0. Each 1 or 2. Without meaning for a grey picture.
  int horizontal_subsampling = 2;
  int vertical_subsampling = 2;
  bool progressive = false;
};

// `picture` (uint8, [H, W, 3] in RGB order or [H, W, 1] grey; sides in [1,
// 65500]) as a JPEG. InvalidArgument for another picture or encoding.
absl::StatusOr<std::string> EncodeJpeg(const cv::Mat& picture,
                                       const JpegEncoding& encoding);

}  // namespace millrace::tools

#endif  // MILLRACE_TOOLS_JPEG_ENCODER_H_
