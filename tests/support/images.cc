#include "tests/support/images.h"

#include <stdio.h>
// After <stdio.h>, which it needs.
#include <jpeglib.h>

#include <cstdlib>

#include "gtest/gtest.h"
#include "opencv2/core.hpp"
#include "opencv2/imgcodecs.hpp"

namespace millrace {

std::vector<uint8_t> TestPixels(int height, int width, int seed) {
  constexpr int kOffset[3] = {0, 37, 91};
  std::vector<uint8_t> pixels;
  pixels.reserve(static_cast<size_t>(height) * width * 3);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (const int offset : kOffset) {
        pixels.push_back(
            static_cast<uint8_t>(5 * y + 3 * x + offset + 29 * seed));
      }
    }
  }
  return pixels;
}

std::string TestJpeg(int height, int width, int seed,
                     const JpegOptions& options) {
  std::vector<uint8_t> pixels = TestPixels(height, width, seed);
  jpeg_compress_struct jpeg;
  jpeg_error_mgr error;
  jpeg.err = jpeg_std_error(&error);  // Ends the test on an error.
  jpeg_create_compress(&jpeg);
  unsigned char* out = nullptr;
  unsigned long size = 0;  // NOLINT: libjpeg's type.
  jpeg_mem_dest(&jpeg, &out, &size);
  jpeg.image_width = static_cast<JDIMENSION>(width);
  jpeg.image_height = static_cast<JDIMENSION>(height);
  jpeg.input_components = options.gray ? 1 : 3;
  jpeg.in_color_space = options.gray ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, options.quality, TRUE);
  jpeg.arith_code = options.arithmetic ? TRUE : FALSE;
  jpeg.restart_interval = static_cast<unsigned>(options.restart_interval);
  if (options.progressive) jpeg_simple_progression(&jpeg);
  if (!options.gray) {
    jpeg.comp_info[0].h_samp_factor = options.horizontal_sampling;
    jpeg.comp_info[0].v_samp_factor = options.vertical_sampling;
  }
  if (options.gray) {
    for (size_t i = 0; i < pixels.size() / 3; ++i) pixels[i] = pixels[3 * i];
  }
  jpeg_start_compress(&jpeg, TRUE);
  const size_t stride = static_cast<size_t>(width) * jpeg.input_components;
  while (jpeg.next_scanline < jpeg.image_height) {
    JSAMPROW row = pixels.data() + jpeg.next_scanline * stride;
    jpeg_write_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_compress(&jpeg);
  std::string bytes(reinterpret_cast<char*>(out), size);
  jpeg_destroy_compress(&jpeg);
  free(out);
  return bytes;
}

std::string TestImage(absl::string_view suffix, int height, int width,
                      int seed) {
  const std::vector<uint8_t> pixels = TestPixels(height, width, seed);
  cv::Mat bgr(height, width, CV_8UC3);
  for (size_t i = 0; i < pixels.size(); ++i) {
    bgr.data[i / 3 * 3 + 2 - i % 3] = pixels[i];
  }
  std::vector<uint8_t> bytes;
  if (!cv::imencode(std::string(suffix), bgr, bytes)) {
    ADD_FAILURE() << "OpenCV can't write " << suffix;
  }
  return std::string(bytes.begin(), bytes.end());
}

}  // namespace millrace
