#include "augment/opencv_decoder.h"

#include <exception>
#include <new>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "augment/cerr_capture.h"
#include "augment/image_structure.h"
#include "augment/luminance.h"
#include "augment/opencv_setup.h"
#include "base/status_macros.h"
#include "opencv2/core.hpp"
#include "opencv2/imgcodecs.hpp"

namespace millrace::augment {
namespace {

// Samples of 16 bits to 8: 65535 is 255 times 257.
uint8_t ToByte(uint16_t value) {
  return static_cast<uint8_t>((value + 128) / 257);
}
uint8_t ToByte(uint8_t value) { return value; }

// Writes one row of B, G, R as R, G, B or as luminance.
template <typename T>
void ConvertRow(const T* bgr, const ImageView& out, int y) {
  uint8_t* to = out.row(y);
  for (int x = 0; x < out.width; ++x, bgr += 3, to += out.channels) {
    const uint8_t r = ToByte(bgr[2]);
    const uint8_t g = ToByte(bgr[1]);
    const uint8_t b = ToByte(bgr[0]);
    if (out.channels == 3) {
      to[0] = r;
      to[1] = g;
      to[2] = b;
    } else {
      to[0] = Luminance(r, g, b);
    }
  }
}

absl::Status NoMemory(ImageFormat format) {
  return absl::ResourceExhaustedError(
      absl::StrCat("no memory for decoding a ", Name(format)));
}

// The line in which OpenCV tells why it failed, without its source file's name.
std::string ReasonOf(absl::string_view text) {
  constexpr absl::string_view kBefore = "error: ";
  const size_t before = text.find(kBefore);
  if (before == absl::string_view::npos) return "OpenCV can't decode it";
  text.remove_prefix(before + kBefore.size());
  text = text.substr(0, text.find(" in function "));
  return std::string(
      absl::StripAsciiWhitespace(text.substr(0, text.find('\n'))));
}

// OpenCV throws; from here on there are statuses.
absl::Status DecodeAll(absl::string_view bytes, ImageFormat format,
                       cv::Mat* image) {
  const CerrCapture capture;
  const auto damaged = [format](absl::string_view text) {
    return absl::DataLossError(
        absl::StrCat("damaged ", Name(format), ": ", ReasonOf(text)));
  };
  try {
    const cv::_InputArray input(reinterpret_cast<const uint8_t*>(bytes.data()),
                                static_cast<int>(bytes.size()));
    cv::imdecode(
        input,
        cv::IMREAD_COLOR | cv::IMREAD_ANYDEPTH | cv::IMREAD_IGNORE_ORIENTATION,
        image);
  } catch (const cv::Exception& e) {
    if (e.code == cv::Error::StsNoMem) return NoMemory(format);
    return damaged(e.what());
  } catch (const std::bad_alloc&) {
    return NoMemory(format);
  } catch (const std::exception& e) {
    return damaged(e.what());
  }
  if (image->empty()) return damaged(capture.text());
  return absl::OkStatus();
}

}  // namespace

// Both are kept for their memory.
struct OpencvDecoder::Impl {
  cv::Mat image;
  std::string rewritten;
};

OpencvDecoder::OpencvDecoder() : impl_(std::make_unique<Impl>()) {
  SetUpOpencv();
}
OpencvDecoder::~OpencvDecoder() = default;

int64_t OpencvDecoder::ScratchBytes() const {
  return static_cast<int64_t>(impl_->image.total() * impl_->image.elemSize() +
                              impl_->rewritten.capacity());
}

absl::Status OpencvDecoder::Decode(absl::string_view bytes,
                                   const ImageHeader& header,
                                   const DecodeRequest& request,
                                   const ImageView& out) {
  if (request.scale != 1) {
    return absl::UnimplementedError(absl::StrCat(
        "decoding a ", Name(header.format), " at scale 1/", request.scale));
  }
  std::string rewritten;
  MILLRACE_ASSIGN_OR_RETURN(const absl::string_view checked,
                            CheckImageStructure(bytes, header, &rewritten));
  cv::Mat& image = impl_->image;
  MILLRACE_RETURN_IF_ERROR(DecodeAll(checked, header.format, &image));
  if (image.rows != header.height || image.cols != header.width) {
    return absl::DataLossError(
        absl::StrCat("damaged ", Name(header.format), ": ", image.rows, " x ",
                     image.cols, " pixels when decoded, ", header.height, " x ",
                     header.width, " in its header"));
  }
  const Region& region = request.region;
  for (int y = 0; y < region.height; ++y) {
    if (image.type() == CV_8UC3) {
      ConvertRow(image.ptr<uint8_t>(region.top + y) + 3 * region.left, out, y);
    } else if (image.type() == CV_16UC3) {
      ConvertRow(image.ptr<uint16_t>(region.top + y) + 3 * region.left, out, y);
    } else {
      return absl::DataLossError(
          absl::StrCat("a ", Name(header.format),
                       " of samples other than 8 or 16 bit integers is not "
                       "supported"));
    }
  }
  return absl::OkStatus();
}

}  // namespace millrace::augment
