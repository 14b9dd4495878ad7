#include "tools/jpeg_encoder.h"

#include <setjmp.h>
#include <stdio.h>
// After <stdio.h>: it uses FILE and size_t without including them.
#include <jpeglib.h>

#include <cstdlib>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace millrace::tools {
namespace {

struct ErrorManager {
  jpeg_error_mgr base;
  jmp_buf escape;
  char message[JMSG_LENGTH_MAX] = "";
};

[[noreturn]] void OnError(j_common_ptr info) {
  auto* manager = reinterpret_cast<ErrorManager*>(info->err);
  info->err->format_message(info, manager->message);
  longjmp(manager->escape, 1);
}

// What libjpeg writes to; both freed by EncodeJpeg().
struct Output {
  unsigned char* data = nullptr;
  unsigned long size = 0;
};

// False, with the reason in `manager`, if libjpeg fails. Holds nothing with a
// destructor, which longjmp would skip.
bool Compress(const cv::Mat& picture, const JpegEncoding& encoding,
              jpeg_compress_struct& info, ErrorManager& manager,
              Output& output) {
  if (setjmp(manager.escape)) return false;
  jpeg_create_compress(&info);
  jpeg_mem_dest(&info, &output.data, &output.size);
  info.image_width = static_cast<JDIMENSION>(picture.cols);
  info.image_height = static_cast<JDIMENSION>(picture.rows);
  info.input_components = picture.channels();
  info.in_color_space = picture.channels() == 3 ? JCS_RGB : JCS_GRAYSCALE;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, encoding.quality, TRUE);
  if (picture.channels() == 3) {
    info.comp_info[0].h_samp_factor = encoding.horizontal_subsampling;
    info.comp_info[0].v_samp_factor = encoding.vertical_subsampling;
  }
  if (encoding.progressive) jpeg_simple_progression(&info);
  jpeg_start_compress(&info, TRUE);
  while (info.next_scanline < info.image_height) {
    auto* row = const_cast<JSAMPLE*>(
        picture.ptr<uchar>(static_cast<int>(info.next_scanline)));
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  return true;
}

absl::Status Check(const cv::Mat& picture, const JpegEncoding& encoding) {
  constexpr int kLongestSide = 65500;
  const auto is_factor = [](int f) { return f == 1 || f == 2; };
  if (picture.empty() || picture.depth() != CV_8U ||
      (picture.channels() != 1 && picture.channels() != 3) ||
      picture.rows > kLongestSide || picture.cols > kLongestSide) {
    return absl::InvalidArgumentError(absl::StrCat(
        "encoding a JPEG: want 1 or 3 channels of bytes with sides in [1, ",
        kLongestSide, "], got ", picture.rows, "x", picture.cols, "x",
        picture.channels()));
  }
  if (encoding.quality < 1 || encoding.quality > 100) {
    return absl::InvalidArgumentError(absl::StrCat(
        "encoding a JPEG: quality is in [1, 100], not ", encoding.quality));
  }
  if (!is_factor(encoding.horizontal_subsampling) ||
      !is_factor(encoding.vertical_subsampling)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "encoding a JPEG: subsampling is 1 or 2, not ",
        encoding.horizontal_subsampling, "x", encoding.vertical_subsampling));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> EncodeJpeg(const cv::Mat& picture,
                                       const JpegEncoding& encoding) {
  if (absl::Status status = Check(picture, encoding); !status.ok()) {
    return status;
  }
  jpeg_compress_struct info{};
  ErrorManager manager;
  info.err = jpeg_std_error(&manager.base);
  manager.base.error_exit = OnError;
  Output output;
  const bool done = Compress(picture, encoding, info, manager, output);
  jpeg_destroy_compress(&info);
  std::string bytes(reinterpret_cast<char*>(output.data),
                    done ? output.size : 0);
  std::free(output.data);
  if (!done) {
    return absl::InternalError(
        absl::StrCat("encoding a JPEG: ", manager.message));
  }
  return bytes;
}

}  // namespace millrace::tools
