#ifndef MILLRACE_TESTS_SUPPORT_IMAGES_H_
#define MILLRACE_TESTS_SUPPORT_IMAGES_H_

// Small encoded images, made in the test.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace millrace {

// A picture with detail in it: pixel (y, x, c) = 5y + 3x + {0, 37, 91}[c] + 29
// * seed modulo 256, HWC, RGB.
std::vector<uint8_t> TestPixels(int height, int width, int seed = 0);

struct JpegOptions {
  int quality = 90;
  // Sampling factors of luma: 1x1 is 4:4:4, 2x1 4:2:2, 2x2 4:2:0.
  int horizontal_sampling = 1;
  int vertical_sampling = 1;
  bool progressive = false;
  // One component, of the red channel.
  bool gray = false;
  // Arithmetic coding in place of Huffman's.
  bool arithmetic = false;
  // MCUs between restart markers; 0 = no markers.
  int restart_interval = 0;
};

// TestPixels() as a JPEG.
std::string TestJpeg(int height, int width, int seed = 0,
                     const JpegOptions& options = {});

// TestPixels() encoded by OpenCV: `suffix` is ".png", ".bmp", ".webp", ...
std::string TestImage(absl::string_view suffix, int height, int width,
                      int seed = 0);

}  // namespace millrace

#endif  // MILLRACE_TESTS_SUPPORT_IMAGES_H_
